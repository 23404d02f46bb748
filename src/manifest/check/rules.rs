//! What has to hold for a GameServer with the shim in it.

use std::collections::BTreeSet;
use std::time::Duration;

use super::autoscaler::Fed;
use super::catalogue::{
    ARGUMENT_NOT_FILLED, CAPACITY_ZERO, CONTAINER_IS_SHIM, CONTAINER_MISSING, COUNTER_UNDECLARED, GRACE_TOO_SHORT,
    HEALTH_INTERVAL, INIT_BLOCKS, INITIAL_DELAY, LIST_UNDECLARED, PORT_TAKEN, Rule, SDK_OFF, SETTING, SETTING_WARNING,
    STOP_NOT_PERMITTED, TWO_SHIMS, WRAPPER_NOT_GAME,
};
use super::pod::{Container, Runs};
use super::{Field, Findings, Position, namespace_of, text_of};
use crate::machine::address_names;
use crate::manifest::field::shortened;
use crate::manifest::spec::{Protocol, Spec};
use crate::settings::{Probe, SdkMode, Settings, Source};

/// Agones' SDK server listens on them in every Pod, over TCP.
const TAKEN_PORTS: [i64; 3] = [8080, 9357, 9358];
/// What a Pod has to end, unless it says otherwise; in seconds.
const DEFAULT_GRACE: u64 = 30;
/// The seconds that a recommended grace period leaves a game that may take as long as it likes.
const SAVE: u64 = 10;
/// Programs that run another as another user; the first ones need to be allowed to become root.
const USER_SWITCHES: [&str; 9] = ["sudo", "su", "doas", "gosu", "su-exec", "setpriv", "runuser", "chpst", "setuidgid"];
const SETUID: usize = 3;
/// So many there may be.
const COUNTERS: usize = 9;

/// A GameServer, and what of it the rules ask for.
struct Server<'a> {
    spec: &'a Spec,
    /// `spec` of the GameServer.
    field: Field<'a>,
    pod: Field<'a>,
    /// The name of the container with the game, where that can be told.
    game: Option<String>,
}

/// The container with the shim, and what its settings come to.
struct Shim<'a> {
    container: &'a Container<'a>,
    settings: Settings,
    is_wrapper: bool,
}

impl Shim<'_> {
    /// Where a variable is set; the container where it is not.
    fn at(&self, variable: &str) -> Position {
        self.container.env.at(variable).unwrap_or(self.container.field.at())
    }
}

impl Findings<'_> {
    /// `object` is the GameServer or what makes it.
    pub(super) fn game_server(&mut self, object: &Field<'_>, root: &Field<'_>, spec: &Spec, left: &mut usize) {
        let published = self.pod(root, spec, left);
        let counters = spec.counters.keys().map(|name| format!("counters/{name}"));
        let declared = counters.chain(spec.lists.keys().map(|name| format!("lists/{name}"))).collect();
        let fleet = format!("{}/{}", namespace_of(object), text_of(object, "name").unwrap_or_default());
        self.checker.fleets.push(Fed { fleet, declared, published });
    }

    /// What the shim in it publishes, if that is known.
    fn pod(&mut self, root: &Field<'_>, spec: &Spec, left: &mut usize) -> Option<BTreeSet<String>> {
        let field = self.or_default(root.map_field("spec"))?;
        let template = self.or_default(field.map_field("template"))?;
        let pod = self.or_default(template.map_field("spec"))?;
        let mut containers = Vec::new();
        for (list, is_init) in [("initContainers", true), ("containers", false)] {
            let Some(list) = pod.get(list) else { continue };
            for item in self.or_default(list.items()) {
                containers.extend(Container::read(item, is_init, left, self));
            }
        }
        let named = self.or_default(field.text("container"));
        let mut main = containers.iter().filter(|container| !container.is_init);
        let game = match (named, main.next(), main.next()) {
            (Some(name), ..) => Some(name),
            (None, Some(only), None) => Some(only.name.clone()),
            _ => None,
        };
        let server = Server { spec, field, pod, game };
        self.game_container(&server, &containers);
        self.declared_ports(&server, &containers);
        let mut shims = containers.iter().filter(|container| container.has_shim());
        let container = shims.next()?;
        for other in shims {
            let (one, two) = (shortened(&container.name), shortened(&other.name));
            let message = match (container.has_settings(), other.has_settings()) {
                (true, false) => idle_shim(&one, &two),
                (false, true) => idle_shim(&two, &one),
                _ => format!("containers {one} and {two} both have a shim (keep its settings in one)"),
            };
            self.add(&TWO_SHIMS, other.field.at(), message);
        }
        self.shim(&server, container)
    }

    fn game_container(&mut self, server: &Server<'_>, containers: &[Container<'_>]) {
        let names: Vec<_> = containers
            .iter()
            .filter(|container| !container.is_init)
            .map(|container| shortened(&container.name))
            .collect();
        // The shim beside the game is none.
        let is_other = |name: &str| containers.iter().all(|one| one.name != name || !matches!(one.runs, Runs::Sidecar));
        let games = || names.iter().map(AsRef::as_ref).filter(|name| is_other(name));
        let choices = || games().take(10).collect::<Vec<_>>().join(" or ");
        match &server.game {
            None if names.len() > 1 => {
                let message = format!(
                    "{} containers, and spec.container does not say which is the game (write container: {})",
                    names.len(),
                    choices()
                );
                self.add(&CONTAINER_MISSING, server.field.at(), message);
            }
            Some(game) if !containers.iter().any(|container| container.name == *game) && !containers.is_empty() => {
                let at = server.field.get("container").map_or(server.field.at(), |field| field.at());
                self.add(
                    &CONTAINER_MISSING,
                    at,
                    format!("spec.container: there is no container {:?} (write {})", shortened(game), choices()),
                );
            }
            _ => {}
        }
    }

    fn declared_ports(&mut self, server: &Server<'_>, containers: &[Container<'_>]) {
        let mut taken = |port: &Field<'_>, name: &str, speaks_tcp: bool| {
            let number = port.get(name).filter(|_| speaks_tcp);
            let Some((field, number)) = number.and_then(|field| Some((field, port.integer(name, 1..=65_535).ok()??)))
            else {
                return;
            };
            if TAKEN_PORTS.contains(&number) {
                let message = format!(
                    "{}: Agones' SDK server has {number} in every Pod (write another port, here and in the game's configuration)",
                    field.path
                );
                self.add(&PORT_TAKEN, field.at(), message);
            }
        };
        let protocol = |port: &Field<'_>| port.get("protocol").and_then(|protocol| protocol.string().ok());
        for port in ports(&server.field) {
            // Agones' default is UDP, Kubernetes' TCP.
            taken(&port, "containerPort", protocol(&port).is_some_and(|protocol| protocol != "UDP"));
        }
        for port in containers.iter().flat_map(|container| ports(&container.field)) {
            taken(&port, "containerPort", protocol(&port).is_none_or(|protocol| protocol == "TCP"));
        }
    }

    fn shim(&mut self, server: &Server<'_>, container: &Container<'_>) -> Option<BTreeSet<String>> {
        let is_game = server.game.as_ref().is_some_and(|game| *game == container.name);
        let is_wrapper = match container.runs {
            Runs::Wrapper(_) => true,
            // An image of a game whose entrypoint is the shim.
            Runs::Image => is_game && !container.is_init,
            Runs::Sidecar | Runs::Command => false,
        };
        container.env.note_unknown(container.field.at(), self);
        let (variables, unknown) = container.env.for_settings();
        let (settings, found) = Settings::declared(is_wrapper, variables, &unknown);
        let shim = Shim { container, settings, is_wrapper };
        for error in found.errors {
            self.add(&SETTING, shim.at(&error.variable), error.to_string());
        }
        for warning in found.warnings {
            self.add(&SETTING_WARNING, shim.at(&warning.variable), warning.to_string());
        }
        self.place(server, &shim, is_game);
        self.asked_ports(&shim);
        self.grace(server, &shim);
        self.health(server, &shim);
        self.user(server, &shim);
        self.arguments(server, &shim);
        self.published(server, &shim)
    }

    /// The right container, started in the right way.
    fn place(&mut self, server: &Server<'_>, shim: &Shim<'_>, is_game: bool) {
        let Shim { container, settings, is_wrapper } = shim;
        let name = shortened(&container.name);
        if *is_wrapper && !is_game && server.game.is_some() {
            let message = format!(
                "container {name} runs a program through the shim and is not the game container (write container: {name} into the GameServer's spec)"
            );
            self.add(&WRAPPER_NOT_GAME, container.field.at(), message);
        }
        if !is_wrapper && is_game {
            let at = server.field.get("container").map_or(container.field.at(), |field| field.at());
            let message = format!(
                "the game container {name} is the shim as a sidecar (write container: and the game's name; or start the game through the shim: args: [\"--\", PROGRAM])"
            );
            self.add(&CONTAINER_IS_SHIM, at, message);
        }
        let policy = self.or_default(container.field.text("restartPolicy"));
        if container.is_init && policy.as_deref() != Some("Always") {
            self.add(
                &INIT_BLOCKS,
                container.field.at(),
                format!("init container {name} never ends, and the game waits for it (write restartPolicy: Always)"),
            );
        }
        if settings.sdk.mode == SdkMode::Off {
            self.add(
                &SDK_OFF,
                shim.at("AGONES_SHIM_SDK"),
                "AGONES_SHIM_SDK: \"off\" never calls Ready() in a cluster (write required, or unset it)",
            );
        }
    }

    /// Ports on loopback that the shim asks, and the SDK server has.
    fn asked_ports(&mut self, shim: &Shim<'_>) {
        let settings = &shim.settings;
        let probes = settings.readiness.probes.iter().chain(&settings.liveness.probes);
        let asked = probes.filter_map(|probe| match probe {
            Probe::Tcp(target) => Some((&target.host, target.port)),
            Probe::Http(target) => Some((&target.host, target.port)),
            _ => None,
        });
        let pages = settings.counters.iter().filter_map(|counter| match &counter.source {
            Source::Metrics { url, .. } => Some((&url.host, url.port)),
            Source::Json(page) => Some((&page.url.host, page.url.port)),
            Source::Query { .. } | Source::Exec(_) | Source::Lines(_) => None,
        });
        let taken =
            asked.chain(pages).filter(|(host, port)| host.is_loopback() && TAKEN_PORTS.contains(&port.get().into()));
        for (_, port) in taken {
            let at = variable_with(shim, port.get()).unwrap_or(shim.container.field.at());
            let message = format!(
                "port {port} is the SDK server's in every Pod: it answers, and the game does not (write the game's own port, which has to be another)"
            );
            self.add(&PORT_TAKEN, at, message);
        }
    }

    /// The kubelet's patience and ours: Shutdown() is delivered beside the other steps, and one attempt at most delays them.
    fn grace(&mut self, server: &Server<'_>, shim: &Shim<'_>) {
        let Settings { stop, sdk, .. } = &shim.settings;
        let given = self.or_default(server.pod.integer("terminationGracePeriodSeconds", 0..=i64::MAX));
        let grace = Duration::from_secs(given.and_then(|secs| u64::try_from(secs).ok()).unwrap_or(DEFAULT_GRACE));
        let hook = stop.hook.as_ref().map_or(Duration::ZERO, |hook| hook.timeout);
        // A sidecar reads neither of these.
        let line = stop.line.as_ref().map_or(Duration::ZERO, |line| line.timeout);
        let save = stop.timeout.unwrap_or_default();
        let before = hook.max(sdk.call_timeout) + line;
        let all = (before + save).max(stop.shutdown_timeout);
        // A game without a bound of its own needs a moment after the signal too.
        if all > grace || shim.is_wrapper && before >= grace {
            let rest = if save.is_zero() { SAVE } else { 1 };
            let steps = [
                ("the hook", hook),
                ("the line", line),
                ("Shutdown()", stop.shutdown_timeout),
                ("the time to save", save),
            ];
            let steps: Vec<String> = steps
                .iter()
                .filter(|(_, time)| !time.is_zero())
                .map(|(step, time)| format!("{step} {time:?}"))
                .collect();
            let at = server.pod.get("terminationGracePeriodSeconds").map_or(server.pod.at(), |field| field.at());
            let wanted = all.as_secs() + rest;
            let message = format!(
                "a stop may take {all:?} ({}), and the kubelet kills after {grace:?} (write terminationGracePeriodSeconds: {wanted})",
                steps.join(", ")
            );
            self.add(&GRACE_TOO_SHORT, at, message);
        }
    }

    fn health(&mut self, server: &Server<'_>, shim: &Shim<'_>) {
        let health = &server.spec.health;
        if health.disabled || shim.settings.sdk.mode == SdkMode::Off {
            return;
        }
        let period = Duration::from_secs(health.period_seconds.into());
        if let Some(interval) = shim.settings.liveness.interval.filter(|interval| *interval >= period) {
            let name = "AGONES_SHIM_HEALTH_INTERVAL_SECS";
            let message = format!(
                "{name}: {interval:?} is not below the GameServer's health.periodSeconds of {} (write {}, or unset it)",
                health.period_seconds,
                period.as_secs_f64() / 2.0
            );
            self.add(&HEALTH_INTERVAL, shim.at(name), message);
        }
        let due = Duration::from_secs(health.initial_delay_seconds.into()) + period * (health.failure_threshold - 1);
        // An attempt to connect a second, then the first call.
        let first = Duration::from_secs(1) + shim.settings.sdk.call_timeout;
        if first > due {
            let field = server.field.get("health");
            let at = field
                .as_ref()
                .and_then(|health| health.get("initialDelaySeconds"))
                .or(field)
                .map_or(server.field.at(), |field| field.at());
            let wanted = u64::from(health.initial_delay_seconds)
                + (first.saturating_sub(due) + Duration::from_millis(999)).as_secs();
            let message = format!(
                "the first beat may come {first:?} after the start, and counts as missed after {due:?} (write initialDelaySeconds: {wanted}, or a shorter AGONES_SHIM_SDK_CALL_TIMEOUT_SECS)"
            );
            self.add(&INITIAL_DELAY, at, message);
        }
    }

    /// The game as another user than the shim, which has to signal it.
    fn user(&mut self, server: &Server<'_>, shim: &Shim<'_>) {
        let Runs::Wrapper(Some(program)) = &shim.container.runs else { return };
        let name = program.rsplit('/').next().unwrap_or_default();
        let Some(place) = USER_SWITCHES.iter().position(|known| *known == name) else { return };
        let context = self.or_default(shim.container.field.map_field("securityContext"));
        let of_pod = self.or_default(server.pod.map_field("securityContext"));
        let contexts: Vec<&Field<'_>> = [&context, &of_pod].into_iter().flatten().collect();
        let user = contexts.iter().find_map(|context| context.integer("runAsUser", 0..=i64::MAX).ok()?);
        let no_root = contexts.iter().find_map(|context| context.boolean("runAsNonRoot").ok()?) == Some(true);
        let escalation = context.as_ref().and_then(|context| context.boolean("allowPrivilegeEscalation").ok()?);
        let capabilities = context.as_ref().and_then(|context| context.get("capabilities"));
        let has = |list: &str, names: &[&str]| {
            let items = capabilities.as_ref().and_then(|field| field.get(list)?.items().ok()).unwrap_or_default();
            items.iter().any(|item| item.string().is_ok_and(|item| names.contains(&item.trim_start_matches("CAP_"))))
        };
        let keeps_kill = has("add", &["KILL", "ALL"]) || !has("drop", &["KILL", "ALL"]);
        let at = shim
            .container
            .words
            .iter()
            .find(|(_, word)| word == program)
            .map_or(shim.container.field.at(), |(at, _)| *at);
        let remedy = "write runAsUser: into the securityContext and the game's program here";
        if user.is_some_and(|user| user != 0) || user.is_none() && no_root {
            self.add(&STOP_NOT_PERMITTED, at, format!("{name} cannot change the user in a container that is not root's, nor may the shim stop what runs as another ({remedy})"));
        } else if escalation == Some(false) && place < SETUID {
            self.add(
                &STOP_NOT_PERMITTED,
                at,
                format!("{name} cannot change the user with allowPrivilegeEscalation: false ({remedy})"),
            );
        } else if !keeps_kill {
            self.add(&STOP_NOT_PERMITTED, at, format!("the shim may not signal what {name} runs as another user without CAP_KILL ({remedy}; or capabilities: {{add: [KILL]}})"));
        }
    }

    /// What is filled in by the shim, and by nobody else.
    fn arguments(&mut self, server: &Server<'_>, shim: &Shim<'_>) {
        let waits = shim.settings.sdk.wait || shim.container.env.is_unknown("AGONES_SHIM_WAIT_FOR_SDK");
        let ports = server.spec.ports.iter().flat_map(|port| {
            let names: &[&str] = if port.protocol == Protocol::TcpUdp { &["-tcp", "-udp"] } else { &[""] };
            names.iter().map(|ending| format!("{}{ending}", port.name))
        });
        let given: BTreeSet<String> = address_names(ports).into_iter().collect();
        for (at, word) in shim.container.words.iter().filter(|_| shim.is_wrapper) {
            // The first one of a word is enough.
            let mut names = word.split("$(AGONES_GAMESERVER_").skip(1).filter_map(|rest| {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
                rest[end..].starts_with(')').then(|| format!("AGONES_GAMESERVER_{}", &rest[..end]))
            });
            let Some(name) = names.find(|name| !waits || !given.contains(name)) else { continue };
            let name = shortened(&name);
            if waits {
                let known: Vec<&str> = given.iter().take(10).map(String::as_str).collect();
                let message = format!("$({name}) is not known to this GameServer (write one of {})", known.join(", "));
                self.add(&ARGUMENT_NOT_FILLED, *at, message);
            } else {
                let message = format!(
                    "$({name}) stays as it is (write AGONES_SHIM_WAIT_FOR_SDK with \"1\" into the container's env)"
                );
                self.add(&ARGUMENT_NOT_FILLED, *at, message);
            }
        }
    }

    /// Counters and the List: declared, and with room. What is published; `None` where that is not known.
    fn published(&mut self, server: &Server<'_>, shim: &Shim<'_>) -> Option<BTreeSet<String>> {
        let env = &shim.container.env;
        let mut published = BTreeSet::new();
        let mut is_known = !env.has_more;
        let counters =
            (1..=COUNTERS).map(|number| ("counters", numbered(number, "NAME"), numbered(number, "CAPACITY")));
        let list = ("lists", "AGONES_SHIM_LIST_NAME".to_owned(), String::new());
        for (what, variable, capacity_variable) in counters.chain([list]) {
            is_known &= !env.is_unknown(&variable);
            let Some(name) = env.get(&variable) else { continue };
            published.insert(format!("{what}/{name}"));
            let capacity = if what == "counters" {
                server.spec.counters.get(name).map(|counter| counter.capacity)
            } else {
                server.spec.lists.get(name).map(|list| list.capacity)
            };
            let shown = shortened(name);
            match capacity {
                None => self.undeclared(what, &variable, &shown, shim.at(&variable)),
                Some(0) if env.get(&capacity_variable) == Some("1") || env.is_unknown(&capacity_variable) => {}
                Some(0) => {
                    let field = server.field.get(what).and_then(|map| map.get(name)?.get("capacity"));
                    let at = field.map_or(server.field.at(), |field| field.at());
                    self.add(&CAPACITY_ZERO, at, format!("spec.{what}.{shown}.capacity: 0 leaves room for nobody (write the most that the game takes)"));
                }
                Some(_) => {}
            }
        }
        is_known.then_some(published)
    }

    fn undeclared(&mut self, what: &str, variable: &str, name: &str, at: Position) {
        let (rule, declaration): (&'static Rule, _) = if what == "counters" {
            (&COUNTER_UNDECLARED, "{count: 0, capacity: 16}")
        } else {
            (&LIST_UNDECLARED, "{capacity: 16}")
        };
        self.add(rule, at, format!("{variable}: {name:?} is not in the GameServer's spec.{what} (write {what}: {{{name}: {declaration}}} there)"));
    }
}

fn idle_shim(told: &str, idle: &str) -> String {
    format!(
        "container {idle} is a shim without any setting, and {told} has settings of one (move them to {idle}; or take {idle} \
         out, where the image of {told} starts the shim itself)"
    )
}

fn ports<'a>(field: &Field<'a>) -> Vec<Field<'a>> {
    field.get("ports").and_then(|ports| ports.items().ok()).unwrap_or_default()
}

/// A setting of this Counter.
fn numbered(number: usize, rest: &str) -> String {
    match number {
        1 => format!("AGONES_SHIM_COUNTER_{rest}"),
        _ => format!("AGONES_SHIM_COUNTER_{number}_{rest}"),
    }
}

/// The first setting with this port in it.
fn variable_with(shim: &Shim<'_>, port: u16) -> Option<Position> {
    let port = port.to_string();
    let pages = (1..=COUNTERS).flat_map(|number| ["METRICS_URL", "JSON_URL"].map(|rest| numbered(number, rest)));
    let probes = ["READY_TCP", "READY_HTTP", "LIVE_TCP", "LIVE_HTTP"].map(|name| format!("AGONES_SHIM_{name}"));
    let holds = |name: &String| shim.container.env.get(name).is_some_and(|value| value.contains(&port));
    probes.into_iter().chain(pages).find(holds).and_then(|name| shim.container.env.at(&name))
}
