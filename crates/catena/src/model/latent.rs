//! One latent process g_l of unit variance: a kernel or a component, with a length-scale.

use crate::kernel::{Block, Component, Dynamics, Kernel, KernelError, StateKind, Step, VisitDynamics};
use crate::units::{LengthScale, UnitError};

/// The kind of a latent process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Process {
    /// A stationary process with this correlation function, carried in this kind of state.
    Stationary(Kernel, StateKind),
    /// A component along time.
    Component(Component),
    /// The quadrature component: the second state of the cycle in the preceding column, a quarter turn behind the first. With a weight for each, an output
    /// has its own amplitude and phase of the cycle.
    Quadrature,
}

/// A latent process of unit variance; the paper's γ_l² is absorbed in its column of the mixing matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latent {
    process: Process,
    length_scale: LengthScale,
}

impl Latent {
    /// A latent with this kernel, carried along edges in this kind of state.
    ///
    /// # Errors
    /// When the kernel has no state of that kind.
    pub fn new(kernel: Kernel, state: StateKind, length_scale: LengthScale) -> Result<Self, KernelError> {
        kernel.state_dim(state)?;
        Ok(Self { process: Process::Stationary(kernel, state), length_scale })
    }

    /// A latent that is a component along time.
    pub fn component(component: Component, length_scale: LengthScale) -> Self {
        Self { process: Process::Component(component), length_scale }
    }

    /// The second state of a cycle, for the column after it; see [`Process::Quadrature`]. `None` of anything but a cycle.
    pub fn quadrature_of(cycle: &Self) -> Option<Self> {
        let is_cycle = matches!(cycle.process, Process::Component(Component::Cycle { .. }));
        is_cycle.then_some(Self { process: Process::Quadrature, length_scale: cycle.length_scale })
    }

    /// The kind of process.
    pub fn process(&self) -> Process {
        self.process
    }

    /// The correlation function; `None` for components.
    pub fn kernel(&self) -> Option<Kernel> {
        match self.process {
            Process::Stationary(kernel, _) => Some(kernel),
            Process::Component(_) | Process::Quadrature => None,
        }
    }

    /// The state that carries it along an edge; components need a line, like derivatives.
    pub fn state(&self) -> StateKind {
        match self.process {
            Process::Stationary(_, state) => state,
            Process::Component(_) | Process::Quadrature => StateKind::Derivative,
        }
    }

    /// Whether it needs a chain: at a branching, odd derivatives have no sign and time has no direction.
    pub fn needs_a_line(&self) -> bool {
        self.state_dim() > 1 || self.kernel().is_none()
    }

    /// The length-scale.
    pub fn length_scale(&self) -> LengthScale {
        self.length_scale
    }

    /// The same latent at another length-scale.
    pub fn with_length_scale(self, length_scale: LengthScale) -> Self {
        Self { length_scale, ..self }
    }

    /// Its second parameter; see [`Component::shape`].
    pub fn shape(&self) -> Option<f64> {
        match self.process {
            Process::Stationary(..) | Process::Quadrature => None,
            Process::Component(component) => component.shape(),
        }
    }

    /// The same latent with another shape; latents without one are unchanged.
    ///
    /// # Errors
    /// When the number is not positive and finite.
    pub fn with_shape(self, shape: f64) -> Result<Self, UnitError> {
        Ok(match self.process {
            Process::Stationary(..) | Process::Quadrature => self,
            Process::Component(component) => {
                Self { process: Process::Component(component.with_shape(shape)?), ..self }
            }
        })
    }

    /// The same latent with time or distance stretched: its length-scale, and its period if it has one.
    ///
    /// # Errors
    /// When a length leaves the range of numbers.
    pub fn stretched(self, factor: f64) -> Result<Self, UnitError> {
        let stretched = self.with_length_scale(LengthScale::new(factor * self.length_scale.get())?);
        match self.process {
            Process::Component(Component::Cycle { period }) => stretched.with_shape(factor * period.get()),
            _ => Ok(stretched),
        }
    }

    /// Whether its variance is constant.
    pub fn is_stationary(&self) -> bool {
        match self.process {
            Process::Stationary(..) | Process::Quadrature => true,
            Process::Component(component) => component.is_stationary(),
        }
    }

    /// The size of its own state; 0 for a quadrature component.
    pub fn state_dim(&self) -> usize {
        match self.process {
            Process::Stationary(kernel, state) => kernel.state_dim(state).unwrap_or(1),
            Process::Component(component) => component.state_dim(),
            Process::Quadrature => 0,
        }
    }

    /// Passes the dynamics of this latent to `visitor`.
    ///
    /// # Errors
    /// Never for a latent that was built; the kernel's check is passed on.
    pub fn visit_dynamics<V: VisitDynamics>(&self, visitor: V) -> Result<V::Output, KernelError> {
        match self.process {
            Process::Stationary(kernel, state) => kernel.visit_dynamics(state, self.length_scale, visitor),
            Process::Component(component) => Ok(component.visit_dynamics(self.length_scale, visitor)),
            Process::Quadrature => Ok(visitor.visit(Stateless)),
        }
    }

    /// The variance that its value gains over a distance, given its state before: Q₁₁.
    pub fn gained_variance(&self, distance: f64) -> f64 {
        struct Gained(f64);

        impl VisitDynamics for Gained {
            type Output = f64;

            fn visit<const K: usize>(self, dynamics: impl Dynamics<K>) -> f64 {
                dynamics.step(self.0).noise.first().and_then(|row| row.first()).copied().unwrap_or(0.0)
            }
        }

        // A latent's state was checked when it was made.
        self.visit_dynamics(Gained(distance)).unwrap_or(0.0)
    }

    /// The correlation of two values a distance Δ apart: κ_l(Δ). `None` for components.
    pub fn correlation(&self, distance: f64) -> Option<f64> {
        self.kernel().map(|kernel| kernel.correlation(kernel.rate(self.length_scale) * distance))
    }
}

/// The dynamics of a latent without a state.
#[derive(Clone, Copy)]
struct Stateless;

impl Dynamics<0> for Stateless {
    fn step(self, _distance: f64) -> Step<0> {
        Step::ZERO
    }

    fn length_scale_derivative(self, _distance: f64) -> Step<0> {
        Step::ZERO
    }

    fn root_covariance(self) -> Block<0> {
        []
    }
}
