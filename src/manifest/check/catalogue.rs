//! Every finding of `check -f`: what it is, what Agones or Kubernetes would do, and what to write instead. The README's
//! table is made from this.

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    /// It cannot work.
    Error,
    /// It works, and will not have been meant.
    Warning,
    /// Something that cannot be checked.
    Note,
}

impl Severity {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A kind of finding. The message of each one says which field it is and what to write there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Its name, for scripts and for those who look it up.
    pub id: &'static str,
    pub severity: Severity,
    finding: &'static str,
    why: &'static str,
    remedy: &'static str,
}

macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $finding:literal $why:literal $remedy:literal)*) => {
        $(pub(super) static $name: Rule = Rule {
            id: $id, severity: Severity::$severity, finding: $finding, why: $why, remedy: $remedy,
        };)*
        /// All of them, in the order of the table.
        pub(super) static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    FILE "file" Error
        "The file cannot be read: no YAML, no UTF-8, nested more than 64 levels deep, above 4 MiB or 100,000 values (aliases count)"
        "kubectl and the API server refuse it, or would have to be more patient than they are."
        "Correct what stands at the place that is named."
    FIELD "field" Error
        "A field has another type or range than Kubernetes' or Agones' own: `value: 8085`, `count` above `capacity`"
        "The API server or Agones' webhook refuses the manifest."
        "The message says what has to stand there; numbers and `yes` as values of variables go in quotes."
    SETTING "setting" Error
        "A setting is wrong, or one is missing that another needs"
        "The container exits with 78 at its start, and the GameServer never becomes Ready."
        "As `agones-shim check` would say: the message names variable, value and what is allowed."
    SETTING_WARNING "setting-warning" Warning
        "A setting works and will not have been meant, or its name is misspelt"
        "The shim says so at its start and goes on."
        "The message says what to write."
    VALUE_UNKNOWN "value-unknown" Note
        "A setting comes from `valueFrom` or `envFrom`"
        "Its value is known in the cluster alone, so it counts as set and right, and with `envFrom` nothing counts as missing."
        "Nothing, or a plain `value` where it is no secret."
    TWO_SHIMS "two-shims" Warning
        "Two containers of one Pod have settings of the shim"
        "Both call Ready(), beat and publish; a game that has died is kept alive by the beats of the other one."
        "Keep the settings of one of them."
    CONTAINER_MISSING "container-missing" Error
        "Two or more containers, and `spec.container` names none or one that is not there"
        "Agones refuses the GameServer: it does not know which is the game, and gets ports and health checks."
        "`container: NAME` of the game's."
    CONTAINER_IS_SHIM "container-is-shim" Error
        "The game container is a sidecar"
        "The game's ports and its health checks go to the shim, and the end of the shim is taken for the game's."
        "`container: NAME` of the game's; or start the game through the shim: `args: [\"--\", PROGRAM]`."
    WRAPPER_NOT_GAME "wrapper-not-game" Error
        "The shim runs a program in a container that is not the game's"
        "Its exit code is not the game's, it is stopped beside the game and not before, and its beats are for the wrong process."
        "`container: NAME` of the wrapper's; or a sidecar without `--`."
    INIT_BLOCKS "init-blocks" Error
        "The shim is an init container without `restartPolicy: Always`"
        "The kubelet waits for its end before it starts the game, and it waits for the game."
        "`restartPolicy: Always` in it (Kubernetes 1.29), or move it to `containers`."
    SDK_OFF "sdk-off" Warning
        "`AGONES_SHIM_SDK=off` in a GameServer"
        "Nobody calls Ready() or beats: the GameServer stays Scheduled, then turns Unhealthy."
        "Leave it out, or write `required`."
    COUNTER_UNDECLARED "counter-undeclared" Error
        "The Counter that is published is not in `spec.counters`"
        "The SDK server answers each update with an error: the Counter does not exist, autoscaler and allocation never see it."
        "`counters: {NAME: {count: 0, capacity: N}}` in the GameServer's spec."
    LIST_UNDECLARED "list-undeclared" Error
        "The List that is filled is not in `spec.lists`"
        "Each name is refused, as for a Counter."
        "`lists: {NAME: {capacity: N}}` in the GameServer's spec."
    CAPACITY_ZERO "capacity-zero" Error
        "The Counter or List has capacity 0"
        "0 is a hard zero, not \"no limit\": every count above it is refused, and clamped to 0 by the shim."
        "The game's maximum; or `AGONES_SHIM_COUNTER_CAPACITY=1` where the query tells it. Left out, it is 1000."
    PORT_TAKEN "port-taken" Error
        "A TCP port of the game, a probe or a metrics page is on 8080, 9357 or 9358"
        "Agones' SDK server has these in every Pod: the game cannot bind them, and a probe asks the SDK server, which answers before the game does."
        "Another port in the game's own configuration, in the manifest and in the settings."
    GRACE_TOO_SHORT "grace-too-short" Error
        "Hook, line, Shutdown() and the time to save take longer than `terminationGracePeriodSeconds` (30 unless set)"
        "The kubelet sends SIGKILL in the middle: what the game has not saved is lost, and a Shutdown() that has not landed ends in Unhealthy."
        "The number of seconds that the message gives, or shorter times in the settings."
    HEALTH_INTERVAL "health-interval" Error
        "`AGONES_SHIM_HEALTH_INTERVAL_SECS` is not below `health.periodSeconds` (5 unless set)"
        "A beat older than one period is a missed one: a game that is well turns Unhealthy."
        "Half of the period, or nothing: the shim finds it by itself."
    INITIAL_DELAY "initial-delay" Warning
        "The first beat can come later than `initialDelaySeconds` + `periodSeconds` x (`failureThreshold` - 1)"
        "The GameServer turns Unhealthy while the game still starts, if the SDK server's first answer is slow."
        "The `initialDelaySeconds` that the message gives."
    STOP_NOT_PERMITTED "stop-not-permitted" Error
        "The game runs as another user than the shim (`gosu`, `su-exec`, `sudo`, ...), and the container's `securityContext` does not allow it"
        "The program cannot change its user (`runAsNonRoot`, `allowPrivilegeEscalation: false`), or the shim may not signal it (CAP_KILL dropped): it is never stopped, only killed."
        "`runAsUser` in the securityContext and the game without that program; or `capabilities: {add: [KILL]}`."
    ARGUMENT_NOT_FILLED "argument-not-filled" Error
        "`$(AGONES_GAMESERVER_...)` in the game's arguments without `AGONES_SHIM_WAIT_FOR_SDK=1`, or of a port that is not in `spec.ports`"
        "Nobody fills it in: the game gets the text as it stands."
        "`AGONES_SHIM_WAIT_FOR_SDK` with \"1\", and the port's name in capitals with `_` for what is no letter or digit."
    AUTOSCALER_UNFED "autoscaler-unfed" Error
        "A FleetAutoscaler scales on a Counter or List that its Fleet does not declare or that its shim does not publish"
        "It never moves: the Fleet stays at its smallest or largest size, whoever plays."
        "The same name in `policy`, in the Fleet and in `AGONES_SHIM_COUNTER_NAME` or `AGONES_SHIM_LIST_NAME`."
}

/// The table for the README.
#[must_use]
pub fn markdown() -> String {
    let mut out = "| finding | | why it matters | remedy |\n|---|---|---|---|\n".to_owned();
    for Rule { id, severity, finding, why, remedy } in ALL {
        out += &format!("| `{id}` ({}) | {finding} | {why} | {remedy} |\n", severity.as_str());
    }
    out
}
