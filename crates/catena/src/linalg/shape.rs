//! The layout of the joint state of all latents.

/// The most components a latent's state can have.
pub(crate) const MAX_PARTS: usize = 3;

/// Part `c` of the state holds component `c` of every latent that has one.
///
/// Slots are latents in descending order of their number of components, so that the latents of each part are a prefix of those of the
/// part before it: component `c` of the latent in slot `s` is entry `offset(c) + s`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    n_parts: usize,
    offsets: [usize; MAX_PARTS + 1],
    /// The slot of each latent.
    slot_of: Vec<usize>,
    /// The number of components of each slot's latent.
    dims: Vec<usize>,
    /// The entry that each column of the mixing matrix reads.
    places_read: Vec<usize>,
    /// One past the last entry read, padded.
    readable: usize,
    /// One past the last entry read; without pairs, unpadded.
    n_values: usize,
}

/// Pads to whole vector lanes, except for one or two latents, where padding would cost more than it saves.
const fn padded(len: usize, n_latents: usize) -> usize {
    if n_latents <= 2 { len } else { len.next_multiple_of(4) }
}

impl Layout {
    /// The layout of latents with these numbers of components. A latent with 0 components reads the second component of the
    /// latent before it. Such pairs come first among latents of equal size, so that outputs read a prefix of the state.
    pub(crate) fn new(state_dims: &[usize]) -> Self {
        let is_pair = |latent: usize| state_dims.get(latent + 1) == Some(&0);
        let mut by_dim: Vec<usize> = (0..state_dims.len()).collect();
        by_dim.sort_by_key(|&latent| std::cmp::Reverse((state_dims[latent], is_pair(latent))));
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
        let place_read = |latent: usize| match state_dims[latent] {
            0 => offsets[1] + slot_of[latent - 1],
            _ => slot_of[latent],
        };
        let places_read: Vec<usize> = (0..state_dims.len()).map(place_read).collect();
        let last_read = places_read.iter().copied().max().unwrap_or(0);
        let has_pairs = last_read >= offsets[1];
        let readable =
            if has_pairs { offsets[1] + padded(last_read + 1 - offsets[1], dims.len()) } else { offsets[1] };
        let n_values = if has_pairs { readable } else { dims.len() };
        Self { n_parts, offsets, slot_of, dims, places_read, readable, n_values }
    }

    /// The padded size of states with these numbers of components; `None` if they are invalid.
    pub(crate) fn checked_size(state_dims: &[usize]) -> Option<usize> {
        // A latent with 0 components reads the second component of the one before it.
        let can_follow = |pair: &[usize]| pair[1] > 0 || pair[0] > 1;
        let can_be = state_dims.first().is_some_and(|&first| first > 0)
            && state_dims.iter().all(|&dim| dim <= MAX_PARTS)
            && state_dims.windows(2).all(can_follow);
        can_be.then(|| Self::new(state_dims).dynamic().size())
    }

    /// The number of latents.
    pub(crate) fn n_slots(&self) -> usize {
        self.dims.len()
    }

    /// The entry that a column of the mixing matrix reads.
    pub(crate) fn place_read(&self, column: usize) -> usize {
        self.places_read[column]
    }

    /// One past the last entry read, without padding.
    pub(crate) fn n_values(&self) -> usize {
        self.n_values
    }

    /// The slot of a latent.
    pub(crate) fn slot_of(&self, latent: usize) -> usize {
        self.slot_of[latent]
    }

    /// The entries of a latent's components.
    pub(crate) fn places(&self, latent: usize) -> impl Iterator<Item = usize> + '_ {
        let slot = self.slot_of[latent];
        (0..self.dims[slot]).map(move |part| self.offsets[part] + slot)
    }

    /// The sizes of this layout.
    pub(crate) fn dynamic(&self) -> Dynamic {
        Dynamic { n_parts: self.n_parts, offsets: self.offsets, readable: self.readable }
    }
}

/// The sizes of a state, known at compile time or at run time.
pub(crate) trait Shape: Copy {
    /// The number of parts, K.
    fn n_parts(self) -> usize;
    /// The first entry of a part.
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
    /// The length of the prefix that outputs read: the first part, and the cycles with a phase per output from the second part.
    #[inline(always)]
    fn readable(self) -> usize {
        self.width()
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
    #[inline(always)]
    fn readable(self) -> usize {
        self.0.readable()
    }
}

/// Any layout.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dynamic {
    n_parts: usize,
    offsets: [usize; MAX_PARTS + 1],
    readable: usize,
}

impl super::StateAlgebra for Dynamic {}

impl Dynamic {
    /// Whether there are `parts` parts of `width` entries each, of which the first is read.
    pub(super) fn is_uniform(self, width: usize, parts: usize) -> bool {
        self.n_parts == parts && self.readable == width && (0..parts).all(|part| self.len(part) == width)
    }

    /// The number of parts, if all are equally long and only the first is read.
    pub(super) fn uniform_parts(self) -> Option<usize> {
        self.is_uniform(self.width(), self.n_parts).then_some(self.n_parts)
    }

    /// Whether all parts, and the prefix that is read, are whole vector lanes.
    pub(super) fn is_in_lanes(self) -> bool {
        self.readable.is_multiple_of(4) && self.offsets.iter().all(|offset| offset % 4 == 0)
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
    #[inline(always)]
    fn readable(self) -> usize {
        self.readable
    }
}
