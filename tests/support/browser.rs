//! Headless Chromium, driven by the DevTools protocol over a pipe: one page, its elements, its keys, its picture.
//!
//! Where there is none the tests are skipped and say why; in CI that is a failure.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use serde_json::{Value, json};

use super::wait::{poll, secs};

/// For one answer of the browser; other tests load the machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with one page.
pub struct Browser {
    child: Child,
    commands: ChildStdin,
    answers: Receiver<Value>,
    session: String,
    next: u64,
    /// Uncaught exceptions, errors of the console, what the policy has blocked.
    pub complaints: Vec<String>,
    profile: PathBuf,
}

impl Browser {
    /// Starts one, or says why not.
    pub fn start(name: &str) -> Option<Self> {
        let paths = env::var_os("PATH").unwrap_or_default();
        if !env::split_paths(&paths).any(|path| path.join("chromium").exists()) {
            assert!(env::var_os("CI").is_none(), "CI has no chromium");
            eprintln!("skipped: no chromium here (.ci/setup.sh ci)");
            return None;
        }
        let profile = env::temp_dir().join(format!("agones-shim-browser-{name}-{}", std::process::id()));
        // It reads commands from descriptor 3 and answers on 4.
        let mut child = Command::new("sh")
            .args(["-c", r#"exec chromium "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#, "sh"])
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
            .args(["--hide-scrollbars", "--force-color-profile=srgb", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sh is there");
        let commands = child.stdin.take().expect("piped");
        let out = child.stdout.take().expect("piped");
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || {
            for message in BufReader::new(out).split(0).map_while(Result::ok) {
                let Ok(message) = serde_json::from_slice(&message) else { return };
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser =
            Self { child, commands, answers, session: String::new(), next: 0, complaints: Vec::new(), profile };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", attach);
        attached["sessionId"].as_str().expect("a session").clone_into(&mut browser.session);
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// One command.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "callers write json!")]
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let mut message = json!({"id": self.next, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.commands.write_all(format!("{message}\0").as_bytes()).expect("the browser reads");
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let answer = self.answers.recv_timeout(left).unwrap_or_else(|_| panic!("{method}: no answer"));
            if answer["id"] == self.next {
                let error = answer["error"]["message"].as_str().unwrap_or_default();
                // The page has reloaded itself in that moment.
                assert!(
                    error.is_empty() || error.contains("navigated") || error.contains("context"),
                    "{method}: {error}"
                );
                return answer["result"].clone();
            }
            self.note(&answer);
        }
    }

    fn note(&mut self, event: &Value) {
        let is_complaint = match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => event["params"]["type"] == "error",
            // What a server answers, an error too, is no fault of the page.
            Some("Log.entryAdded") => event["params"]["entry"]["source"] != "network",
            _ => false,
        };
        if is_complaint {
            self.complaints.push(event["params"].to_string());
        }
    }

    /// Opens a page and waits until it is there.
    #[track_caller]
    pub fn open(&mut self, url: &str) {
        let gone = self.call("Page.navigate", json!({"url": url}));
        assert!(gone["errorText"].is_null(), "{url}: {gone}");
        self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'");
    }

    /// The value of an expression, a promise's too.
    #[track_caller]
    pub fn eval(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let result = self.call("Runtime.evaluate", params);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub fn wait_for(&mut self, expression: &str) {
        // What is not there yet is no error here.
        let tried = format!("(() => {{ try {{ return {expression} }} catch {{ return false }} }})()");
        let found = poll(secs(30), || (self.eval(&tried) == true).then_some(()));
        if found.is_none() {
            let text = self.eval("document.body.innerText");
            panic!("not in 30 s: {expression}\n{}\n{:?}", text.as_str().unwrap_or_default(), self.complaints);
        }
    }

    /// Presses and releases a key: `Tab`, `Enter`.
    pub fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            _ => panic!("no code for {key}"),
        };
        let kind = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
        for kind in [kind, "keyUp"] {
            let params = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text});
            self.call("Input.dispatchKeyEvent", params);
        }
    }

    /// The window's size, and whether the user likes it dark.
    pub fn look(&mut self, width: u32, height: u32, scheme: &str) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// A picture of the whole page, in `target/screenshots`.
    pub fn screenshot(&mut self, name: &str) -> PathBuf {
        let answer = self.call("Page.captureScreenshot", json!({"captureBeyondViewport": true}));
        let picture = base64(answer["data"].as_str().expect("a picture"));
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/screenshots");
        fs::create_dir_all(&folder).expect("target can be written");
        let path = folder.join(format!("{name}.png"));
        fs::write(&path, picture).expect("target can be written");
        path
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.profile);
    }
}

/// RFC 4648.
pub fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    for four in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = four.iter().fold(0u32, |bits, &byte| bits << 6 | u32::from(digit(byte))) << (6 * (4 - four.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..four.len()]);
    }
    bytes
}
