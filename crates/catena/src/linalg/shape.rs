//! Where each latent's components stand in the joint state.

/// The most components a latent's state can have.
pub(crate) const MAX_PARTS: usize = 3;

/// Part `c` of the state holds component `c` of every latent that has one.
///
/// Slots are latents ordered by descending number of components, so that each part's latents are a prefix of the
/// part before it: component `c` of the latent in slot `s` stands at `offset(c) + s`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    n_parts: usize,
    offsets: [usize; MAX_PARTS + 1],
    /// The slot of each latent.
    slot_of: Vec<usize>,
    /// The number of components of each slot's latent.
    dims: Vec<usize>,
}

/// Whole vector lanes, except for states of so few latents that padding would cost more than it saves.
const fn padded(len: usize, n_latents: usize) -> usize {
    if n_latents <= 2 { len } else { len.next_multiple_of(4) }
}

impl Layout {
    /// The layout of latents with these numbers of components.
    pub(crate) fn new(state_dims: &[usize]) -> Self {
        let mut by_dim: Vec<usize> = (0..state_dims.len()).collect();
        by_dim.sort_by_key(|&latent| std::cmp::Reverse(state_dims[latent]));
        let mut slot_of = vec![0; state_dims.len()];
        for (slot, &latent) in by_dim.iter().enumerate() {
            slot_of[latent] = slot;
        }
        let dims: Vec<usize> = by_dim.iter().map(|&latent| state_dims[latent]).collect();
        let n_parts = dims.first().copied().unwrap_or(0);
        let mut offsets = [0; MAX_PARTS + 1];
        for part in 0..MAX_PARTS {
            let len = dims.iter().filter(|&&dim| dim > part).count();
            offsets[part + 1] = offsets[part] + padded(len, dims.len());
        }
        Self { n_parts, offsets, slot_of, dims }
    }

    /// The number of latents.
    pub(crate) fn n_slots(&self) -> usize {
        self.dims.len()
    }

    /// Whether some latents have fewer components than others.
    pub(crate) fn has_mixed_dims(&self) -> bool {
        self.dims.first() != self.dims.last()
    }

    /// The slot of a latent.
    pub(crate) fn slot_of(&self, latent: usize) -> usize {
        self.slot_of[latent]
    }

    /// The places in the padded state of the components of a latent.
    pub(crate) fn places(&self, latent: usize) -> impl Iterator<Item = usize> + '_ {
        let slot = self.slot_of[latent];
        (0..self.dims[slot]).map(move |part| self.offsets[part] + slot)
    }

    /// The same layout for code compiled for any shape.
    pub(crate) fn dynamic(&self) -> Dynamic {
        Dynamic { n_parts: self.n_parts, offsets: self.offsets }
    }
}

/// The sizes of a state, known when compiling or only when running.
pub(crate) trait Shape: Copy {
    /// The number of parts, K.
    fn n_parts(self) -> usize;
    /// Where a part begins.
    fn offset(self, part: usize) -> usize;
    /// The padded length of a part.
    fn len(self, part: usize) -> usize;
    /// The padded size of the whole state, N.
    fn size(self) -> usize;
    /// The padded number of latents: the length of the first part.
    #[inline(always)]
    fn width(self) -> usize {
        self.len(0)
    }
}

/// `K` parts of `W` entries each, `N = K·W`.
#[derive(Clone, Copy)]
pub(crate) struct Fixed<const W: usize, const K: usize, const N: usize>;

impl<const W: usize, const K: usize, const N: usize> Shape for Fixed<W, K, N> {
    #[inline(always)]
    fn n_parts(self) -> usize {
        K
    }
    #[inline(always)]
    fn offset(self, part: usize) -> usize {
        part * W
    }
    #[inline(always)]
    fn len(self, _part: usize) -> usize {
        W
    }
    #[inline(always)]
    fn size(self) -> usize {
        N
    }
}

impl<const W: usize, const K: usize, const N: usize> super::StateAlgebra for Fixed<W, K, N> {}

/// A shape whose parts are whole vector lanes.
#[derive(Clone, Copy)]
pub(crate) struct InLanes<S>(pub(super) S);

impl<S: Shape> Shape for InLanes<S> {
    #[inline(always)]
    fn n_parts(self) -> usize {
        self.0.n_parts()
    }
    #[inline(always)]
    fn offset(self, part: usize) -> usize {
        self.0.offset(part)
    }
    #[inline(always)]
    fn len(self, part: usize) -> usize {
        self.0.len(part)
    }
    #[inline(always)]
    fn size(self) -> usize {
        self.0.size()
    }
}

/// Any layout.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dynamic {
    n_parts: usize,
    offsets: [usize; MAX_PARTS + 1],
}

impl super::StateAlgebra for Dynamic {}

impl Dynamic {
    /// Whether this is `parts` parts of `width` entries each.
    pub(super) fn is_uniform(self, width: usize, parts: usize) -> bool {
        self.n_parts == parts && (0..parts).all(|part| self.len(part) == width)
    }

    /// Whether all parts are whole vector lanes.
    pub(super) fn is_in_lanes(self) -> bool {
        self.offsets.iter().all(|offset| offset % 4 == 0)
    }
}

impl Shape for Dynamic {
    #[inline(always)]
    fn n_parts(self) -> usize {
        self.n_parts
    }
    #[inline(always)]
    fn offset(self, part: usize) -> usize {
        self.offsets[part]
    }
    #[inline(always)]
    fn len(self, part: usize) -> usize {
        self.offsets[part + 1] - self.offsets[part]
    }
    #[inline(always)]
    fn size(self) -> usize {
        self.offsets[self.n_parts]
    }
}
