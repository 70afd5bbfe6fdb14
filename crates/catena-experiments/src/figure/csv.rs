//! The numbers behind a chart.

use super::Panel;

pub(super) fn of_panels(panels: &[Panel]) -> String {
    let mut text = String::from("panel,series,x,y,low,high\n");
    for panel in panels {
        for series in &panel.series {
            for point in &series.points {
                let numbers = [point.x, point.y, point.low, point.high].map(|number| number.to_string());
                let line = [quoted(&panel.title), quoted(&series.name), numbers.join(",")].join(",");
                text.push_str(&line);
                text.push('\n');
            }
        }
    }
    text
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
