//! A model file is read back to the bit; a truncated, changed, newer or foreign file is an error.

use crate::folder::Folder;
use catena_io::model_file::{Array, Container, Digest, ModelFileError};
use proptest::prelude::*;
use serde_json::json;

fn sample() -> Container {
    let mut container =
        Container::new(json!({"kernel": "matern32", "noise": [0.1, 1e-300, 5e-324], "name": "Köln"}));
    let values = vec![1.5, -0.0, f64::NAN, f64::from_bits(0x7ff8_0000_dead_beef), f64::MIN_POSITIVE, 1e308];
    container.arrays.insert("mixing".into(), Array::from_f64(values).with_shape(&[2, 3]).unwrap());
    container.arrays.insert("order".into(), Array::from_u64(vec![0, u64::MAX, 7]));
    container.arrays.insert("empty".into(), Array::from_f64(vec![]).with_shape(&[0, 4]).unwrap());
    let digest = Digest::of_arrays(container.arrays.iter().map(|(name, array)| (name.as_str(), array)));
    container.data_digest = Some(digest);
    container
}

#[test]
fn a_file_comes_back_to_the_bit() {
    let folder = Folder::new();
    let path = folder.path("model.catena");
    let container = sample();
    container.write_to(&path).unwrap();
    assert_eq!(Container::read_from(&path).unwrap(), container);
    assert_eq!(std::fs::read(&path).unwrap(), container.to_bytes().unwrap());
    assert_eq!(folder.names(), ["model.catena"]);
    // Its head can be read by a person, and the checksum is the one every system computes.
    let bytes = container.to_bytes().unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.starts_with("catena-model 1\nheader "));
    assert!(text.contains("\"kernel\":\"matern32\""));
}

#[test]
fn a_cut_file_is_refused_wherever_it_is_cut() {
    let bytes = sample().to_bytes().unwrap();
    for length in 0..bytes.len() {
        let error = Container::from_bytes(&bytes[..length]).unwrap_err();
        assert!(
            matches!(error, ModelFileError::Truncated { .. } | ModelFileError::NotAModel { .. }),
            "{length}: {error:?}"
        );
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(matches!(Container::from_bytes(&longer), Err(ModelFileError::Damaged { .. })));
}

#[test]
fn a_changed_bit_is_noticed_wherever_it_is() {
    let bytes = sample().to_bytes().unwrap();
    for position in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[position] ^= 1 << bit;
            assert!(Container::from_bytes(&changed).is_err(), "byte {position}, bit {bit}");
        }
    }
}

#[test]
fn other_files_are_refused_by_what_they_are() {
    let folder = Folder::new();
    let error = |name: &str, bytes: &[u8]| Container::read_from(&folder.write(name, bytes)).unwrap_err();
    assert!(matches!(error("a", b""), ModelFileError::NotAModel { .. }));
    assert!(matches!(error("b", b"time,temperature\n1,2\n"), ModelFileError::NotAModel { .. }));
    assert!(matches!(error("c", b"catena-model 2\n"), ModelFileError::Newer { found: 2, newest: 1, .. }));
    assert!(matches!(error("d", b"catena-model x\n"), ModelFileError::Damaged { .. }));
    assert!(matches!(error("e", b"catena-model 1\nheader 2\n{}"), ModelFileError::Truncated { .. }));
    assert!(matches!(Container::read_from(&folder.path("none")), Err(ModelFileError::NotFound { .. })));
    assert!(matches!(Container::read_from(folder.root()), Err(ModelFileError::NotAModel { .. })));
    let message = error("named", b"catena-model 9\n").to_string();
    assert!(message.contains("named") && message.contains('9') && message.contains("newer"), "{message}");
}

/// A header that promises more than memory holds must fail by arithmetic, not by allocation.
#[test]
fn absurd_sizes_are_refused_before_anything_is_allocated() {
    let shapes =
        ["[1000000000000]", "[18446744073709551615]", "[4294967296, 4294967296]", "[-1]", "[1.5]", "7"];
    for shape in shapes {
        let header =
            format!(r#"{{"arrays":[{{"name":"a","kind":"f64","shape":{shape},"offset":0}}],"model":null}}"#);
        let text = format!("catena-model 1\nheader {}\n{header}\n{}", header.len(), " ".repeat(100));
        let error = Container::from_bytes(text.as_bytes()).unwrap_err();
        assert!(
            matches!(error, ModelFileError::Truncated { .. } | ModelFileError::Damaged { .. }),
            "{shape}: {error:?}"
        );
    }
    for length in ["99999999999999", "18446744073709551615", "99999999999999999999999", "-5"] {
        let text = format!("catena-model 1\nheader {length}\n{}", "x".repeat(200));
        assert!(Container::from_bytes(text.as_bytes()).is_err(), "{length}");
    }
    let nested = "[".repeat(100_000);
    let text = format!("catena-model 1\nheader {}\n{nested}\n{}", nested.len(), " ".repeat(100));
    assert!(Container::from_bytes(text.as_bytes()).is_err());
}

#[test]
fn the_digest_tells_data_apart() {
    let array = |values: &[f64]| Array::from_f64(values.to_vec());
    let digest = |name: &str, array: &Array| Digest::of_arrays([(name, array)]);
    let base = digest("x", &array(&[1.0, 2.0]));
    assert_eq!(base, digest("x", &array(&[1.0, 2.0])));
    assert_ne!(base, digest("y", &array(&[1.0, 2.0])));
    assert_ne!(base, digest("x", &array(&[2.0, 1.0])));
    assert_ne!(base, digest("x", &array(&[1.0, 2.0]).with_shape(&[2, 1]).unwrap()));
    assert_eq!(Digest::parse(&base.to_string()), Some(base));
    // The SHA-256 of nothing, as published with the standard.
    let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(Digest::of_arrays([]).to_string(), nothing);
}

proptest! {
    #[test]
    fn any_arrays_come_back(
        floats in prop::collection::vec(any::<u64>(), 0..50),
        whole in prop::collection::vec(any::<u64>(), 0..50),
        number in any::<f64>().prop_filter("JSON has no NaN", |value| value.is_finite()),
        name in "\\PC{0,10}",
    ) {
        let mut container = Container::new(json!({"number": number, "text": name}));
        let floats = floats.into_iter().map(f64::from_bits).collect();
        container.arrays.insert(name, Array::from_f64(floats));
        container.arrays.insert("whole".into(), Array::from_u64(whole));
        let back = Container::from_bytes(&container.to_bytes().unwrap()).unwrap();
        prop_assert_eq!(back, container);
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), has_magic in any::<bool>()) {
        let mut all = if has_magic { b"catena-model 1\nheader 20\n".to_vec() } else { vec![] };
        all.extend(bytes);
        prop_assert!(Container::from_bytes(&all).is_err());
    }
}
