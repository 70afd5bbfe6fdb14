//! SVG to pixels, with glyphs of our own: the same picture on every machine.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

const PIXELS_PER_UNIT: f32 = 2.0;

/// The one family that figures name first.
static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    for face in [dejavu::sans::regular(), dejavu::sans::bold(), dejavu::sans::oblique()] {
        fonts.load_font_data(face.to_vec());
    }
    Arc::new(fonts)
});

pub(super) fn rasterized(svg: &str) -> Result<Vec<u8>, String> {
    let options =
        Options { fontdb: Arc::clone(&FONTS), font_family: "DejaVu Sans".to_owned(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let size = tree.size().to_int_size();
    let scaled = |length: u32| (length as f32 * PIXELS_PER_UNIT).ceil() as u32;
    let mut picture = Pixmap::new(scaled(size.width()), scaled(size.height())).ok_or("it has no size")?;
    resvg::render(&tree, Transform::from_scale(PIXELS_PER_UNIT, PIXELS_PER_UNIT), &mut picture.as_mut());
    picture.encode_png().map_err(|error| error.to_string())
}
