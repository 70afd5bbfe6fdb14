//! Several processes write one model: the rows of every process that succeeds are in it.

use crate::chance::Chance;
use crate::{Counts, HEADER, assert_has_rows, csv_line, with_model};

pub(crate) fn run(chance: &mut Chance, counts: &mut Counts) {
    let folder = with_model("writers");
    std::fs::copy(folder.0.join("m.catena"), folder.0.join("shared.catena")).unwrap();
    let (mut next, mut rows): (u64, Vec<u64>) = (1, vec![]);
    for _ in 0..2 {
        let children: Vec<_> = (0..2 + chance.below(2))
            .map(|at| {
                let own: Vec<u64> = (next..next + 5).collect();
                next += 5;
                let name = format!("rows{at}.csv");
                folder.write(
                    &name,
                    HEADER.to_owned() + &own.iter().map(|row| csv_line(*row)).collect::<String>(),
                );
                let words = ["update", "shared.catena", &name, "-o", "shared.catena"];
                (folder.command(&words).spawn().unwrap(), own)
            })
            .collect();
        for (child, own) in children {
            let output = child.wait_with_output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            match output.status.code() {
                Some(0) => rows.extend(own),
                code => assert!(code == Some(2) && errors.contains("another process"), "{code:?}: {errors}"),
            }
            counts.add("updates of one model at once", 1);
        }
    }
    assert!(!rows.is_empty());
    assert_has_rows(&folder, "shared.catena", &rows);
}
