//! A headless Chromium, driven by its DevTools protocol over a pair of pipes.
//!
//! `--remote-debugging-pipe` reads commands from descriptor 3 and writes answers and events to 4,
//! JSON objects that end in a zero byte. Named pipes bring them there without a shell of our own
//! having to pass descriptors on. (<https://chromedevtools.github.io/devtools-protocol/>)

use std::env;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Names the browser, if it is not `chromium`.
const BROWSER_VARIABLE: &str = "CHROMIUM";

/// A browser with one page.
pub struct Browser {
    child: Child,
    commands: File,
    answers: BufReader<File>,
    session: Option<String>,
    last: u64,
    /// What went wrong in the page: exceptions, errors on the console, dialogs, blocked requests.
    pub complaints: Vec<String>,
    _folder: TempDir,
}

impl Default for Browser {
    fn default() -> Self {
        Self::new()
    }
}

impl Browser {
    /// Starts the browser with an empty profile and an empty page.
    #[must_use]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let [input, output] = ["commands", "answers"].map(|name| folder.path().join(name));
        for pipe in [&input, &output] {
            mkfifo(pipe, Mode::S_IRUSR | Mode::S_IWUSR).expect("a named pipe");
        }
        let program = env::var_os(BROWSER_VARIABLE).unwrap_or_else(|| OsString::from("chromium"));
        let child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<\"$COMMANDS\" 4>\"$ANSWERS\""])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .env("COMMANDS", &input)
            .env("ANSWERS", &output)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        // Each end waits for the other, in the order in which the shell opens them.
        let commands = OpenOptions::new().write(true).open(&input).expect("the shell reads it");
        let answers = File::open(&output).expect("the shell writes it");
        let mut browser = Self {
            child,
            commands,
            answers: BufReader::new(answers),
            session: None,
            last: 0,
            complaints: Vec::new(),
            _folder: folder,
        };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", &attach);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Opens a file at a width in CSS pixels, with a preferred colour scheme, and waits until it is
    /// loaded.
    pub fn open(&mut self, file: &Path, width: u32, scheme: &str) {
        let size =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", &media);
        let url = format!("file://{}", file.display()).replace(' ', "%20");
        self.call("Page.navigate", &json!({ "url": url }));
        while self.message()["method"] != "Page.loadEventFired" {}
    }

    /// The value of an expression in the page.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let request =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", &request);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Presses and releases a key, such as "Tab".
    pub fn press(&mut self, key: &str) {
        for kind in ["rawKeyDown", "keyUp"] {
            let code = match key {
                "Tab" => 9,
                "Enter" => 13,
                _ => 0,
            };
            let event =
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// A picture of the whole page as PNG, in base 64.
    pub fn picture(&mut self) -> String {
        let request = json!({ "format": "png", "captureBeyondViewport": true });
        let answer = self.call("Page.captureScreenshot", &request);
        answer["data"].as_str().expect("a picture").to_owned()
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        let id = self.last;
        let mut request = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            request["sessionId"] = session.as_str().into();
        }
        write!(self.commands, "{request}\0").expect("the browser reads commands");
        loop {
            let mut message = self.message();
            if message["id"] == id {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].take();
            }
        }
    }

    /// The next answer or event.
    fn message(&mut self) -> Value {
        let mut bytes = Vec::new();
        let length = self.answers.read_until(0, &mut bytes).expect("the browser answers");
        assert!(
            length > 0,
            "the browser has gone; spec-scripts/setup.sh --tests installs chromium, \
             and {BROWSER_VARIABLE} names another one"
        );
        bytes.pop();
        let message: Value = serde_json::from_slice(&bytes).expect("JSON");
        let parameters = &message["params"];
        let is_complaint = match message["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" | "Page.javascriptDialogOpening" => true,
            "Runtime.consoleAPICalled" => parameters["type"] != "log",
            "Log.entryAdded" => parameters["entry"]["level"] != "verbose",
            _ => false,
        };
        if is_complaint {
            self.complaints.push(message.to_string());
        }
        message
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have gone already; what counts is that it is gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
