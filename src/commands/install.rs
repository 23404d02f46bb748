//! `agones-shim install DIR`: a copy of this executable, for images that are not rebuilt. A scratch image has no `cp`.
//!
//! The copy is made under another name and renamed: whoever starts it sees the old file or the new one whole, and an old
//! one that is running is no obstacle.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use super::args::{Argument, Arguments, Usage, quoted, utf8};
use super::output::{print, say};
use super::{Command, Reads};
use crate::exit::ExitReason;
use crate::game::sys;

pub(super) static COMMAND: Command = Command {
    name: "install",
    arguments: "DIR [--name=NAME]",
    summary: "copies itself into a directory: for init containers",
    words: &[("--name", "NAME of the copy; agones-shim unless given")],
    details: &[
        "An older copy is replaced, also while it runs. Exit 73 where DIR does not take it, or where nothing could be \
                executed.",
    ],
    reads: Reads::Nothing,
    run: |args, _| run(args),
};

/// This executable, wherever it is and whatever it is called; in a scratch image too.
const OWN: &str = "/proc/self/exe";

fn run(args: Vec<OsString>) -> Result<ExitReason, Usage> {
    let (mut directory, mut name) = (None, OsString::from("agones-shim"));
    let mut arguments = Arguments::new(args);
    while let Some(argument) = arguments.next()? {
        match argument {
            Argument::Option(option) if option == "--name" => name = arguments.value(&option)?,
            Argument::Value(value) if directory.is_none() && !value.is_empty() => directory = Some(value),
            other => return Err(Usage::unexpected(&COMMAND, &other)),
        }
    }
    let directory = directory.ok_or_else(|| Usage::new("install needs a directory (write agones-shim install DIR)"))?;
    if matches!(utf8(&name)?, "" | "." | "..") || utf8(&name)?.contains('/') {
        return Err(Usage::new(format!("install: --name {} is no name of a file (write agones-shim)", quoted(&name))));
    }
    let directory = Path::new(&directory);
    let target = directory.join(name);
    Ok(match install(directory, &target) {
        Ok(size) => print(&format!("agones-shim: installed {} ({size} bytes)\n", target.display())),
        Err(error) => {
            say(&format!("install: {}: {error}", target.display()));
            ExitReason::CannotInstall
        }
    })
}

fn install(directory: &Path, target: &Path) -> Result<u64, String> {
    if !directory.is_dir() {
        return Err(format!("{} is no directory (mount the volume there)", directory.display()));
    }
    // Of two that install at once, in two Pods with one volume, both may be process 1.
    let chance = RandomState::new().hash_one(std::process::id());
    let draft = directory.join(format!(".agones-shim-{chance:016x}"));
    let copied = copy(&draft).map_err(|error| explained(&error, directory)).and_then(|size| {
        sys::may_execute(&draft)
            .map_err(|_| "nothing can be executed there: it is mounted noexec (mount another volume)".to_owned())?;
        fs::rename(&draft, target).map_err(|error| explained(&error, directory))?;
        Ok(size)
    });
    if copied.is_err() {
        let _ = fs::remove_file(&draft);
    }
    copied
}

fn copy(to: &Path) -> io::Result<u64> {
    let mut own = File::open(OWN)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o755).open(to)?;
    let (mut buffer, mut size) = (vec![0; 64 << 10], 0);
    loop {
        let count = own.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        file.write_all(&buffer[..count])?;
        size += count as u64;
    }
    // Whatever the umask is; and what a network's disk refuses, it refuses now.
    file.set_permissions(Permissions::from_mode(0o755))?;
    file.sync_all()?;
    Ok(size)
}

/// What the kernel says, and what to do about it.
fn explained(error: &io::Error, directory: &Path) -> String {
    let (owner, own) = (owner(directory), owner(Path::new("/proc/self")));
    let remedy = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "there is no room for 4 MiB (raise the volume's sizeLimit)".to_owned()
        }
        ErrorKind::ReadOnlyFilesystem => {
            "mount it without readOnly in this container, the game's may have it so".to_owned()
        }
        ErrorKind::PermissionDenied => {
            format!(
                "it belongs to user {owner}, and this runs as user {own} (write runAsUser: {owner}, or fsGroup, into the securityContext)"
            )
        }
        ErrorKind::IsADirectory => "there is a directory of that name (remove it, or write --name NAME)".to_owned(),
        _ => return error.to_string(),
    };
    format!("{error}: {remedy}")
}

fn owner(path: &Path) -> String {
    fs::metadata(path).map_or_else(|_| "?".to_owned(), |metadata| metadata.uid().to_string())
}
