//! A program whose exec hangs, as one on a dead mount does: a fanotify mark on its file whose question nobody answers.

use std::ffi::CString;
use std::fs;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::libc;

/// See the module. Dropped, it lets everybody through and removes the file.
pub struct HeldExec {
    path: PathBuf,
    group: Option<fs::File>,
}

impl HeldExec {
    /// A script of a test's own, held from now on; `None`, said loudly, where this machine allows no such mark.
    pub fn script(name: &str, text: &str) -> Option<Self> {
        let path = std::env::temp_dir().join(format!("agones-shim-held-{name}-{}", std::process::id()));
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("our own file");
        match hold(&path) {
            Ok(group) => Some(Self { path, group: Some(fs::File::from(group)) }),
            Err(error) => {
                eprintln!("SKIPPED {name}: no fanotify permission events here (root and a kernel with them): {error}");
                let _ = fs::remove_file(&path);
                None
            }
        }
    }

    /// The program, as an argument.
    pub fn path(&self) -> &str {
        self.path.to_str().expect("UTF-8")
    }

    /// Waits for an exec to hang and refuses it: it fails with EPERM.
    pub fn refuse(&mut self) {
        let group = self.group.as_mut().expect("it holds");
        let mut event = [0; size_of::<libc::fanotify_event_metadata>()];
        group.read_exact(&mut event).expect("an event");
        // SAFETY: any bytes are such a struct, and the kernel wrote these.
        let event: libc::fanotify_event_metadata = unsafe { std::ptr::read_unaligned(event.as_ptr().cast()) };
        let response = [event.fd.to_ne_bytes(), libc::FAN_DENY.to_ne_bytes()].concat();
        group.write_all(&response).expect("answered");
        // SAFETY: the kernel opened it for this process.
        drop(unsafe { OwnedFd::from_raw_fd(event.fd) });
    }

    /// Lets everybody through, those that hang included.
    pub fn release(&mut self) {
        self.group = None;
    }
}

impl Drop for HeldExec {
    fn drop(&mut self) {
        self.release();
        let _ = fs::remove_file(&self.path);
    }
}

fn hold(path: &Path) -> std::io::Result<OwnedFd> {
    let name = CString::new(path.to_str().expect("UTF-8")).expect("no NUL");
    let (init, events) = (libc::FAN_CLASS_CONTENT | libc::FAN_CLOEXEC, libc::O_RDONLY | libc::O_CLOEXEC);
    // SAFETY: the path is a live C string.
    unsafe {
        let group = libc::fanotify_init(init, events.try_into().expect("flags"));
        if group == -1 {
            return Err(std::io::Error::last_os_error());
        }
        let group = OwnedFd::from_raw_fd(group);
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&group);
        let mask = libc::FAN_OPEN_EXEC_PERM;
        if libc::fanotify_mark(descriptor, libc::FAN_MARK_ADD, mask, libc::AT_FDCWD, name.as_ptr()) == -1 {
            return Err(std::io::Error::last_os_error());
        }
        Ok(group)
    }
}
