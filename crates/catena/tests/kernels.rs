//! Every kernel obeys the laws its traits state.

use catena::kernel::{Kernel, Matern12, Matern32, Matern52, SquaredExponential, StateKind};
use catena_testkit::kernel_conformance::{check_correlation, check_derivative_state, check_dynamics};

#[test]
fn correlation_functions_obey_their_laws() {
    check_correlation::<Matern12>(Kernel::Matern12);
    check_correlation::<Matern32>(Kernel::Matern32);
    check_correlation::<Matern52>(Kernel::Matern52);
    check_correlation::<SquaredExponential>(Kernel::SquaredExponential);
}

#[test]
fn derivative_states_obey_their_laws() {
    check_derivative_state::<Matern12, 1>(Kernel::Matern12);
    check_derivative_state::<Matern32, 2>(Kernel::Matern32);
    check_derivative_state::<Matern52, 3>(Kernel::Matern52);
}

#[test]
fn dynamics_obey_their_laws_in_every_state() {
    for &kernel in Kernel::ALL {
        check_dynamics(kernel, StateKind::Value);
        if kernel.state_dim(StateKind::Derivative).is_ok() {
            check_dynamics(kernel, StateKind::Derivative);
        }
    }
}
