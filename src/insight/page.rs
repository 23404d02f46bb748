//! The page for people: one file with its style and its script, served by the status endpoint and by `local-sdk`.
//!
//! Pure. The Content-Security-Policy lets that one style and that one script run and nothing else; their hashes are
//! made by the compiler, so that they cannot differ from the file. Without scripts a plain text is shown, which the
//! server writes, and the page reloads itself.

use std::str;

const FILE: &str = include_str!("page.html");

/// The header's value. No frame: a page elsewhere must not lay itself over the buttons.
#[must_use]
pub(crate) fn policy() -> String {
    const STYLE: [u8; 44] = base64(sha256(between(FILE.as_bytes(), b"<style>", b"</style>")));
    const SCRIPT: [u8; 44] = base64(sha256(between(FILE.as_bytes(), b"<script>", b"</script>")));
    let [style, script] = [&STYLE, &SCRIPT].map(|hash| str::from_utf8(hash).expect("base64 is ASCII"));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; connect-src 'self'; \
         img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

/// The page of `local-sdk` or of `status`, with the text for those who run no scripts.
#[must_use]
pub(crate) fn render(from: &str, plain: &str) -> String {
    let plain = plain.replace('&', "&amp;").replace('<', "&lt;");
    // What is put in last is not looked at again.
    FILE.replacen("@FROM@", from, 1).replacen("@PLAIN@", &plain, 1)
}

/// What stands between two marks, of which there is one each.
const fn between<'a>(text: &'a [u8], start: &[u8], end: &[u8]) -> &'a [u8] {
    let from = find(text, start) + start.len();
    text.split_at(find(text, end)).0.split_at(from).1
}

/// Ends the compilation where there is none.
const fn find(text: &[u8], wanted: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let mut same = 0;
        while same < wanted.len() && text[at + same] == wanted[same] {
            same += 1;
        }
        if same == wanted.len() {
            return at;
        }
        at += 1;
    }
}

/// FIPS 180-4. The constants are the first bits of the fractional parts of roots of primes: computed, not listed.
#[allow(clippy::many_single_char_names, reason = "the standard's names")]
const fn sha256(text: &[u8]) -> [u8; 32] {
    let (mut state, keys) = constants();
    let blocks = (text.len() + 9).div_ceil(64);
    let mut block = 0;
    while block < blocks {
        let mut words = [0u32; 64];
        let mut at = 0;
        while at < 64 {
            let index = block * 64 + at;
            let byte = if index < text.len() {
                text[index]
            } else if index == text.len() {
                0x80
            } else if index >= blocks * 64 - 8 {
                // The length in bits ends the last block.
                (text.len() as u64 * 8).to_be_bytes()[index + 8 - blocks * 64]
            } else {
                0
            };
            words[at / 4] = words[at / 4] << 8 | byte as u32;
            at += 1;
        }
        at = 16;
        while at < 64 {
            let (a, b) = (words[at - 15], words[at - 2]);
            let small = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
            let large = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
            words[at] = words[at - 16].wrapping_add(small).wrapping_add(words[at - 7]).wrapping_add(large);
            at += 1;
        }
        let before = state;
        at = 0;
        while at < 64 {
            let [a, b, c, d, e, f, g, h] = state;
            let one = (e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25)).wrapping_add((e & f) ^ (!e & g));
            let one = one.wrapping_add(h).wrapping_add(keys[at]).wrapping_add(words[at]);
            let two =
                (a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22)).wrapping_add((a & b) ^ (a & c) ^ (b & c));
            state = [one.wrapping_add(two), a, b, c, d.wrapping_add(one), e, f, g];
            at += 1;
        }
        at = 0;
        while at < 8 {
            state[at] = state[at].wrapping_add(before[at]);
            at += 1;
        }
        block += 1;
    }
    let mut hash = [0; 32];
    let mut at = 0;
    while at < 32 {
        hash[at] = state[at / 4].to_be_bytes()[at % 4];
        at += 1;
    }
    hash
}

/// Square roots of 8 primes, cube roots of 64.
const fn constants() -> ([u32; 8], [u32; 64]) {
    let (mut state, mut keys) = ([0; 8], [0; 64]);
    let (mut found, mut candidate) = (0, 2u128);
    while found < 64 {
        let mut divisor = 2;
        while !candidate.is_multiple_of(divisor) {
            divisor += 1;
        }
        if divisor == candidate {
            if found < 8 {
                state[found] = root(candidate << 64, 2);
            }
            keys[found] = root(candidate << 96, 3);
            found += 1;
        }
        candidate += 1;
    }
    (state, keys)
}

/// The last 32 bits of the largest whole number whose power is not above `of`.
#[allow(clippy::cast_possible_truncation, reason = "the whole part is not asked for")]
const fn root(of: u128, power: u32) -> u32 {
    let (mut root, mut bit) = (0u128, 1u128 << 40);
    while bit > 0 {
        if (root | bit).pow(power) <= of {
            root |= bit;
        }
        bit >>= 1;
    }
    root as u32
}

/// RFC 4648, of 32 bytes.
const fn base64(bytes: [u8; 32]) -> [u8; 44] {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = [b'='; 44];
    let mut digit = 0;
    // 256 bits are 43 digits of 6.
    while digit < 43 {
        let (byte, shift) = (digit * 6 / 8, digit * 6 % 8);
        let next = if byte < 31 { bytes[byte + 1] } else { 0 };
        let bits = (bytes[byte] as usize) << 8 | next as usize;
        text[digit] = ALPHABET[bits >> (10 - shift) & 63];
        digit += 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_standards_examples() {
        for (text, wanted) in [
            (&b""[..], "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
            (b"abc", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="),
            (
                b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE=",
            ),
        ] {
            assert_eq!(str::from_utf8(&base64(sha256(text))), Ok(wanted));
        }
    }

    #[test]
    fn the_file_is_small_and_has_what_the_policy_allows() {
        assert!(FILE.len() < 24 * 1024, "{} bytes", FILE.len());
        for once in ["<style>", "</style>", "<script>", "</script>", "@FROM@", "@PLAIN@"] {
            assert_eq!(FILE.matches(once).count(), 1, "{once}");
        }
        for never in ["style=", "onclick=", "innerHTML", "eval(", "https:", "import "] {
            assert!(!FILE.contains(never), "{never}");
        }
    }

    #[test]
    fn what_is_shown_as_text_stays_text() {
        let page = render("status", "<script>@FROM@ & more</script>");
        assert!(page.contains("<pre>&lt;script>@FROM@ &amp; more&lt;/script></pre>"), "{page}");
        assert!(page.contains("data-from=\"status\""));
    }
}
