//! Just enough of ELF64, little endian, to say whether a file needs anything but a kernel.

/// What the program headers say.
#[derive(Debug, Default)]
pub struct Elf {
    /// `e_machine`: 62 is x86-64, 183 is AArch64.
    pub machine: u16,
    /// Position independent: the kernel chooses where it goes (`ET_DYN`).
    pub position_independent: bool,
    /// It asks for a loader (`PT_INTERP`).
    pub interpreter: bool,
    /// It names libraries (`DT_NEEDED`), so many.
    pub needed: usize,
    /// Its data is made read-only once it is relocated (`PT_GNU_RELRO`).
    pub relro: bool,
    /// No memory is both writable and executable, the stack included.
    pub write_xor_execute: bool,
    /// Size of the stacks that the libc gives to threads that ask for none (`PT_GNU_STACK`), bytes.
    pub stack: u64,
    /// It has a symbol table or debug sections: it is not stripped.
    pub symbols: bool,
}

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
const PT_GNU_STACK: u32 = 0x6474_e551;
const PT_GNU_RELRO: u32 = 0x6474_e552;
const DT_NEEDED: u64 = 1;
const SHT_SYMTAB: u32 = 2;

impl Elf {
    /// Reads a file's headers; `None` where it is no such file or one that ends too early.
    pub fn parse(file: &[u8]) -> Option<Self> {
        if file.get(..6)? != b"\x7fELF\x02\x01" {
            return None;
        }
        let mut elf = Self {
            machine: u16_at(file, 18)?,
            position_independent: u16_at(file, 16)? == 3,
            write_xor_execute: true,
            ..Self::default()
        };
        for header in table(file, u64_at(file, 32)?, u16_at(file, 54)?, u16_at(file, 56)?)? {
            let (flags, offset, size) = (u32_at(header, 4)?, u64_at(header, 8)?, u64_at(header, 32)?);
            elf.write_xor_execute &= !(matches!(u32_at(header, 0)?, PT_LOAD | PT_GNU_STACK) && flags & 3 == 3);
            match u32_at(header, 0)? {
                PT_INTERP => elf.interpreter = true,
                PT_GNU_RELRO => elf.relro = true,
                PT_GNU_STACK => elf.stack = u64_at(header, 40)?,
                PT_DYNAMIC => {
                    let start = usize::try_from(offset).ok()?;
                    let dynamic = file.get(start..start.checked_add(usize::try_from(size).ok()?)?)?;
                    elf.needed = dynamic.chunks_exact(16).filter(|entry| u64_at(entry, 0) == Some(DT_NEEDED)).count();
                }
                _ => {}
            }
        }
        for section in table(file, u64_at(file, 40)?, u16_at(file, 58)?, u16_at(file, 60)?)? {
            elf.symbols |= u32_at(section, 4)? == SHT_SYMTAB;
        }
        Some(elf)
    }
}

fn table(file: &[u8], offset: u64, entry: u16, count: u16) -> Option<std::slice::ChunksExact<'_, u8>> {
    let (start, entry) = (usize::try_from(offset).ok()?, usize::from(entry));
    let bytes = file.get(start..start.checked_add(entry * usize::from(count))?)?;
    Some(bytes.chunks_exact(entry.max(1)))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}
