//! The summary of a segment: the conditional of its last state given the state before it.

use super::bytes::{Mark, numbers, opened, push_numbers, sealed};
use super::error::SegmentError;
use crate::graph::FactorGraph;
use crate::index::Position;
use crate::inference::blocks::{BlockSweep, Future, Past};
use crate::inference::error::InferenceError;
use crate::inference::gaussian::{Adjoint, Gaussian};
use crate::inference::square_root::{Algebra, Conditional, InformationRows, SquareRootModel, StepAt};
use crate::linalg::{Layout, Separate, Shape, add_scaled, dot, eliminate, vector_times_matrix};
use crate::model::Lmc;

/// A segment of a chain reduced to the conditional of its last state given the state before it, and the likelihood of that state.
/// A few kilobytes, whatever its length.
///
/// Summaries of consecutive segments are joined by [`Summary::then`], which is associative: any cuts of a chain yield
/// the same whole, to rounding. All numbers are square roots, so that no noise is too small.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Components of each latent.
    dims: Vec<usize>,
    conditional: Conditional,
}

/// The start of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// At the root of the chain.
    AtRoot,
    /// After another segment. Its graph begins with **the last row of that segment, without cells**: the row belongs to the segment
    /// before it, the step from it to the next row to this one.
    AfterAnother,
}

/// How often to check whether a segment has forgotten the state before it.
const LOOK_EVERY: usize = 16;

const MARK: Mark = (b"catenasg", "a segment summary");

impl Summary {
    /// The summary of no rows.
    pub fn empty(model: &Lmc) -> Self {
        let dims = model.state_dims();
        let size = Layout::new(&dims).dynamic().size();
        Self { dims, conditional: Conditional::identity(size) }
    }

    /// The summary of a segment: a chain with its cells, under a model.
    ///
    /// Once the last state no longer depends on the state before the segment, and unless noise is tiny, a Kalman filter
    /// computes the rest, so that a long segment costs little more than its log evidence.
    ///
    /// # Errors
    /// When the structure is not a chain, or numbers overflow.
    pub fn of(graph: &FactorGraph<'_>, begins: Begins) -> Result<Self, InferenceError> {
        if !graph.tree().is_chain() {
            return Err(InferenceError::NotAChain);
        }
        let model = graph.model();
        let mut root_model = SquareRootModel::new(model);
        let mut conditional = Conditional::identity(root_model.size());
        root_model.set_steps(graph.step_lengths().lengths());
        let (cells, mut rows) = (graph.cells(), InformationRows::default());
        let (first, n_positions) = (usize::from(begins == Begins::AfterAnother), cells.n_positions());
        let can_filter = BlockSweep::suits(graph);
        for position in first..n_positions {
            if can_filter && (position - first) % LOOK_EVERY == LOOK_EVERY - 1 && conditional.has_forgotten()
            {
                let before = with_covariance(&conditional);
                let (log_evidence, last) = BlockSweep::new().forward_from(graph, position, &before)?;
                conditional.end_with(&last.mean, &last.covariance_factor(), log_evidence);
                break;
            }
            rows.clear();
            let mut share = 0.0;
            let own_noise = cells.noise_variances(position);
            for (at, (&output, &value)) in
                cells.outputs(position).iter().zip(cells.values(position)).enumerate()
            {
                share += root_model.push_cell(output, value, own_noise.map(|own| own[at]), &mut rows);
            }
            let step = StepAt::into_position(graph.step_lengths(), position);
            root_model.extend(&mut conditional, step, rows.view());
            conditional.add_log_normalizer(share);
            if !conditional.log_normalizer().is_finite() {
                return Err(InferenceError::Overflow { row: graph.tree().row_at(Position::new(position)) });
            }
        }
        // The log evidence can be finite where other numbers are not.
        if !conditional.is_finite() {
            let last = Position::new(n_positions.saturating_sub(1));
            return Err(InferenceError::Overflow { row: graph.tree().row_at(last) });
        }
        Ok(Self { dims: model.state_dims(), conditional })
    }

    /// This segment joined with the next one.
    ///
    /// # Errors
    /// When they are of models with other states, or numbers overflow.
    pub fn then(&self, next: &Self) -> Result<Self, SegmentError> {
        self.check(next)?;
        let mut joined = self.clone();
        Algebra::new(Layout::new(&self.dims)).extend(&mut joined.conditional, &next.conditional);
        if joined.conditional.is_finite() { Ok(joined) } else { Err(SegmentError::Overflow) }
    }

    /// The log evidence of all cells, for a summary that begins at the root.
    pub fn log_evidence(&self) -> f64 {
        self.starting_at_root().log_normalizer()
    }

    /// The past of the next segment, for a summary that begins at the root.
    pub fn past(&self) -> Past {
        Past(with_covariance(&self.starting_at_root()))
    }

    /// The future of a block, from this summary of everything after it. `up_to` summarizes everything from the root up to and including the
    /// block.
    ///
    /// # Errors
    /// When they are of models with other states.
    pub fn future(&self, up_to: &Self) -> Result<Future, SegmentError> {
        self.check(up_to)?;
        let (state, size) = (up_to.starting_at_root(), self.conditional.size());
        let (state_parts, rows) = (state.parts(), self.conditional.rows());
        // With S = I + (EX)(EX)ᵀ = RᵀR, the adjoint is N = Eᵀ S⁻¹ E and r = Eᵀ S⁻¹(e − E m).
        let mut tall = vec![0.0; 2 * size * size];
        let mut gap = rows.offset.to_vec();
        let mut read = vec![0.0; size];
        for i in 0..size {
            let row = &rows.root[i * size..][..size];
            vector_times_matrix::<Separate>(row, state_parts.factor, &mut read);
            tall[i * size + i] = 1.0;
            (0..size).for_each(|k| tall[(size + k) * size + i] = read[k]);
            gap[i] -= dot::<Separate>(row, state_parts.shift);
        }
        eliminate(&mut tall, 2 * size, size, size);
        let mut whitened = rows.root.to_vec();
        for i in 0..size {
            for k in 0..i {
                let factor = tall[k * size + i];
                let (above, below) = whitened.split_at_mut(i * size);
                add_scaled::<Separate>(-factor, &above[k * size..][..size], &mut below[..size]);
                gap[i] -= factor * gap[k];
            }
            let inverse = tall[i * size + i].recip();
            whitened[i * size..][..size].iter_mut().for_each(|entry| *entry *= inverse);
            gap[i] *= inverse;
        }
        let mut adjoint = Adjoint { vector: vec![0.0; size], matrix: vec![0.0; size * size] };
        vector_times_matrix::<Separate>(&gap, &whitened, &mut adjoint.vector);
        for row in whitened.chunks_exact(size) {
            for i in 0..size {
                add_scaled::<Separate>(row[i], row, &mut adjoint.matrix[i * size..][..size]);
            }
        }
        Ok(Future(adjoint))
    }

    /// The last state and the log evidence, when the segment begins at the root.
    fn starting_at_root(&self) -> Conditional {
        let mut state = Conditional::zero(self.conditional.size());
        Algebra::new(Layout::new(&self.dims)).extend(&mut state, &self.conditional);
        state
    }

    fn check(&self, other: &Self) -> Result<(), SegmentError> {
        if self.dims == other.dims {
            return Ok(());
        }
        Err(SegmentError::OtherModel { first: self.dims.clone(), second: other.dims.clone() })
    }

    /// The summary as bytes: little-endian, with a version and a checksum.
    pub fn to_bytes(&self) -> Vec<u8> {
        sealed(MARK, |bytes| {
            bytes.extend((self.dims.len() as u32).to_le_bytes());
            self.dims.iter().for_each(|&dim| bytes.extend((dim as u32).to_le_bytes()));
            push_numbers(bytes, self.conditional.numbers());
        })
    }

    /// A summary from its bytes.
    ///
    /// # Errors
    /// When the bytes are not of a summary, are damaged, or have an unknown version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SegmentError> {
        let damaged = SegmentError::Damaged { len: bytes.len() };
        let (n_dims, rest) = opened(MARK, bytes)?.split_first_chunk().ok_or(damaged.clone())?;
        let n_dims = u32::from_le_bytes(*n_dims) as usize;
        let (dims, rest) = rest.split_at_checked(n_dims.saturating_mul(4)).ok_or(damaged.clone())?;
        let (dims, _) = dims.as_chunks();
        let dims: Vec<usize> = dims.iter().map(|&dim| u32::from_le_bytes(dim) as usize).collect();
        let numbers = numbers(rest).ok_or(damaged.clone())?;
        let size = Layout::checked_size(&dims).ok_or(damaged.clone())?;
        let conditional = Conditional::from_numbers(size, size, numbers).ok_or(damaged)?;
        Ok(Self { dims, conditional })
    }
}

/// The last state of a segment that has forgotten the state before it, by its covariance.
fn with_covariance(conditional: &Conditional) -> Gaussian {
    let state = conditional.gaussian();
    Gaussian::new(state.mean.to_vec(), state.full_covariance().into_owned())
}
