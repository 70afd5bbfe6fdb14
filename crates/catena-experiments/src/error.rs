//! Errors of the studies.

use std::path::PathBuf;

use catena::data::DataError;
use catena::graph::GraphError;
use catena::inference::InferenceError;
use catena::model::ModelError;
use catena::structure::StructureError;
use catena::units::UnitError;
use catena_explain::ExplainError;
use catena_fit::FitError;
use catena_io::write::WriteError;
use catena_methods::DenseMethodError;
use catena_methods::bounds::BoundsError;
use catena_studies::study::StudyError;
use thiserror::Error;

/// Where to get ETTh1.
const SOURCE: &str = "take ETT-small/ETTh1.csv from the repository zhouhaoyi/ETDataset on GitHub";

/// Reason why a study failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The electricity table is not given.
    #[error("the study {study} needs the table ETTh1: {SOURCE} (sha256 {digest}) and give its path with --ett", digest = crate::ett_file::DIGEST)]
    NoElectricity {
        /// The study.
        study: &'static str,
    },
    /// The electricity table cannot be read.
    #[error("{}: cannot be read ({source}); {SOURCE}", path.display())]
    ElectricityUnread {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file is not the electricity table of the paper.
    #[error("{}: is not ETTh1 as the paper used it (sha256 {found}, expected {expected}); {SOURCE}", path.display(), expected = crate::ett_file::DIGEST)]
    ElectricityDiffers {
        /// The file.
        path: PathBuf,
        /// Its digest.
        found: String,
    },
    /// A seed count of zero.
    #[error("--seeds needs at least 1")]
    NoSeeds,
    /// A file of the results cannot be read or created.
    #[error("{}: {source}; give another folder", path.display())]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A stored result is damaged.
    #[error("{}: is not a result of this program ({cause}); remove it and run again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
    /// A method gave a number that is not finite.
    #[error("{cell}, seed {seed}: {name} is not a finite number")]
    NotFinite {
        /// The cell.
        cell: String,
        /// The seed.
        seed: u32,
        /// Which number.
        name: String,
    },
    /// A figure cannot be converted to pixels.
    #[error("the figure {name} cannot be drawn ({cause})")]
    Picture {
        /// The figure.
        name: String,
        /// What is wrong.
        cause: String,
    },
    /// A study cannot be set up.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// A dense method failed.
    #[error(transparent)]
    Dense(#[from] DenseMethodError),
    /// A bound cannot be evaluated.
    #[error(transparent)]
    Bounds(#[from] BoundsError),
    /// A learned fit failed.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The table cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The model does not fit the structure.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A factor graph cannot be drawn.
    #[error(transparent)]
    Drawing(#[from] ExplainError),
    /// A live posterior refused an edit or a query.
    #[error(transparent)]
    Live(#[from] catena::live::LiveError),
    /// The sweep failed.
    #[error(transparent)]
    Inference(#[from] InferenceError),
    /// The model cannot be built.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The structure cannot be built.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// A number has the wrong sign.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl ExperimentError {
    /// Whether the failure is numerical, not one of files or options.
    pub fn is_numeric(&self) -> bool {
        match self {
            Self::NoElectricity { .. }
            | Self::ElectricityUnread { .. }
            | Self::ElectricityDiffers { .. }
            | Self::NoSeeds
            | Self::Folder { .. }
            | Self::Damaged { .. }
            | Self::Write(_) => false,
            Self::Study(cause) => {
                !matches!(cause, StudyError::NotANumber { .. } | StudyError::TooShort { .. })
            }
            _ => true,
        }
    }
}
