//! A directory of a test's own, removed in the end.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::wait::{self, secs};

pub struct Scratch(PathBuf);

impl Scratch {
    /// The name is unique within the test binary.
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("agones-shim-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a directory of our own");
        Self(path)
    }

    pub fn directory(&self) -> &Path {
        &self.0
    }

    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("UTF-8").to_owned()
    }

    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, bytes).expect("our own directory is writable");
        path
    }

    pub fn file_with_mode(&self, name: &str, bytes: impl AsRef<[u8]>, mode: u32) -> String {
        let path = self.file(name, bytes);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("our own file");
        path
    }

    /// A program.
    pub fn script(&self, name: &str, text: &str) -> String {
        self.file_with_mode(name, format!("#!/bin/sh\n{text}\n"), 0o755)
    }

    pub fn append(&self, name: &str, text: &str) {
        let mut file = OpenOptions::new().append(true).create(true).open(self.path(name)).expect("writable");
        file.write_all(text.as_bytes()).expect("written");
    }

    /// What is in it; nothing where it is not there.
    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// The pid that a script has written.
    pub fn pid(&self, name: &str) -> i32 {
        wait::until("a pid", secs(10), || self.text(name).trim().parse().ok())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
