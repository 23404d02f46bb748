//! Maps with nothing in them, as small as two game servers take them: an empty space over a floor without faces.
//!
//! The servers of Debian's packages come without maps that could be had without their data.

/// Where everything is: half the side of the space.
const HALF: f32 = 512.0;
const MINS: [f32; 3] = [-HALF; 3];
const MAXS: [f32; 3] = [HALF; 3];

fn ints(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn shorts(numbers: &[i16]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn entities(spawn: &str) -> Vec<u8> {
    let text =
        format!("{{\n\"classname\" \"worldspawn\"\n}}\n{{\n\"classname\" \"{spawn}\"\n\"origin\" \"0 0 64\"\n}}\n\0");
    text.into_bytes()
}

/// The head, where each lump is and how long it is, the lumps.
fn file(head: &[u8], lumps: &[Vec<u8>]) -> Vec<u8> {
    let mut directory = head.to_vec();
    let mut body = Vec::new();
    for lump in lumps {
        let at = head.len() + lumps.len() * 8 + body.len();
        directory.extend(ints(&[at, lump.len()].map(|number| i32::try_from(number).expect("a small map"))));
        body.extend_from_slice(lump);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    [directory, body].concat()
}

/// A map of Quake (BSP 29).
pub fn quake() -> Vec<u8> {
    let plane = [floats(&[0.0, 0.0, 1.0, 0.0]), ints(&[2])].concat();
    // In front of the plane leaf 1, behind it leaf 0, which is the solid of all maps.
    let node = [ints(&[0]), shorts(&[-2, -1, -512, -512, -512, 512, 512, 512, 0, 0])].concat();
    let clip_node = [ints(&[0]), shorts(&[-1, -2])].concat();
    let leaf =
        |contents: i32| [ints(&[contents, -1]), shorts(&[-512, -512, -512, 512, 512, 512, 0, 0]), vec![0; 4]].concat();
    let leafs = [leaf(-2), leaf(-1)].concat();
    let model = [floats(&MINS), floats(&MAXS), floats(&[0.0; 3]), ints(&[0, 0, 0, 0, 1, 0, 0])].concat();
    let mut lumps = vec![Vec::new(); 15];
    for (place, lump) in
        [(0, entities("info_player_start")), (1, plane), (5, node), (9, clip_node), (10, leafs), (14, model)]
    {
        lumps[place] = lump;
    }
    file(&ints(&[29]), &lumps)
}

/// A map of Quake III (IBSP 46).
pub fn quake3() -> Vec<u8> {
    let mut shader = b"textures/common/caulk".to_vec();
    shader.resize(64, 0);
    shader.extend(ints(&[0, 1]));
    let plane = floats(&[0.0, 0.0, 1.0, 0.0]);
    let bounds = [-512, -512, -512, 512, 512, 512];
    let node = [ints(&[0, -1, -1]), ints(&bounds)].concat();
    let leaf = [ints(&[0, 0]), ints(&bounds), ints(&[0; 4])].concat();
    let model = [floats(&MINS), floats(&MAXS), ints(&[0; 4])].concat();
    let mut lumps = vec![entities("info_player_deathmatch"), shader, plane, node, leaf, Vec::new(), Vec::new(), model];
    lumps.resize(17, Vec::new());
    file(&[b"IBSP".as_slice(), &ints(&[46])].concat(), &lumps)
}
