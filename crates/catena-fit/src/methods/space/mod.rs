//! `space[:GEOMETRY]`: fields over places and time, exact along time. The last input is the time, the others are the place.

mod evidence;
mod posterior;
mod query;

pub(crate) use evidence::SpaceEvidence;
pub(crate) use query::SpaceQuery;

use catena_methods::{Gradient, MemoryLimit, Problem};

use super::method::{Differentiable, Fitted, Method};
use super::named::NamedMethod;
use crate::error::MethodError;
use crate::options::MethodChoice;
use crate::space::Geometry;
use posterior::SpacePosterior;

pub(super) struct Definition;

impl Definition {
    fn geometry(choice: MethodChoice) -> Geometry {
        if let MethodChoice::Space { geometry } = choice { geometry } else { Geometry::Auto }
    }
}

impl NamedMethod for Definition {
    fn word(&self) -> &'static str {
        "space"
    }

    fn usages(&self) -> Vec<&'static str> {
        vec!["space", "space:plane", "space:latlon", "space:lonlat"]
    }

    fn parse(&self, counts: Option<&str>) -> Option<MethodChoice> {
        let Some(word) = counts else { return Some(self.with_counts([0, 0])) };
        let (geometry, _) = Geometry::WORDS.into_iter().skip(1).find(|(_, own)| *own == word)?;
        Some(MethodChoice::Space { geometry })
    }

    fn counts_text(&self, choice: MethodChoice) -> Option<String> {
        let mut words = Geometry::WORDS.into_iter().skip(1);
        words.find(|(geometry, _)| *geometry == Self::geometry(choice)).map(|(_, word)| word.to_owned())
    }

    /// The number of the geometry in [`Geometry::WORDS`].
    fn counts(&self, choice: MethodChoice) -> [usize; 2] {
        let found = Geometry::WORDS.iter().position(|(geometry, _)| *geometry == Self::geometry(choice));
        [found.unwrap_or(0), 0]
    }

    fn with_counts(&self, [at, _]: [usize; 2]) -> MethodChoice {
        MethodChoice::Space {
            geometry: Geometry::WORDS.get(at).map_or(Geometry::Plane, |(geometry, _)| *geometry),
        }
    }

    fn dense(
        &self,
        choice: MethodChoice,
        _seed: u64,
        memory: MemoryLimit,
    ) -> Option<Box<dyn Differentiable>> {
        Some(Box::new(SpaceMethod { geometry: Self::geometry(choice), memory }))
    }
}

/// Exact inference for fields over places and time: message passing along time over all places.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpaceMethod {
    /// How places are measured; [`Geometry::Auto`] is the plane.
    pub geometry: Geometry,
    /// The memory limit.
    pub memory: MemoryLimit,
}

impl Method for SpaceMethod {
    fn name(&self) -> &'static str {
        "space"
    }

    fn fit(&self, problem: Problem<'_>) -> Result<Box<dyn Fitted>, MethodError> {
        Ok(Box::new(SpacePosterior::new(problem, self.geometry, self.memory)?))
    }
}

impl Differentiable for SpaceMethod {
    fn gradient(&self, problem: Problem<'_>) -> Result<Gradient, MethodError> {
        let mut evidence = SpaceEvidence::new(problem, self.geometry)?;
        let found = catena::learning::Evidence::gradient(&mut evidence, problem.model())?;
        Ok(Gradient {
            value: found.log_evidence,
            mixing: found.mixing,
            length_scales: found.length_scales,
            noise: found.noise,
        })
    }
}
