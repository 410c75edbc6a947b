//! Noise of known shape, seeded, and a machine that makes it.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A source of random numbers.
pub struct Noise(Xoshiro256PlusPlus);

impl Noise {
    /// Everything follows from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform in (0, 1), never an end.
    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal by Box and Muller (1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Exponential with mean 1: a run is never faster than its floor, often slower.
    pub fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// Student's t with two degrees of freedom, whose variance is infinite.
    pub fn heavy_tailed(&mut self) -> f64 {
        let chi_squared = 2.0 * self.exponential();
        self.normal() / (chi_squared / 2.0).sqrt()
    }
}

/// How the log times of a program's runs vary on a machine, whatever the program is. All have a
/// scale of about 1.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Normal.
    Normal,
    /// Exponential: never below a floor.
    Skewed,
    /// Exponential of a normal: a long tail upwards.
    LogNormal,
    /// Student's t with two degrees of freedom.
    HeavyTailed,
    /// Every fiftieth run or so is disturbed by ten standard deviations.
    Disturbed,
    /// First-order autoregressive with a coefficient of 0.95 from run to run.
    Autocorrelated,
    /// Slower by a hundredth of a standard deviation with every run.
    Drifting,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Normal,
        Self::Skewed,
        Self::LogNormal,
        Self::HeavyTailed,
        Self::Disturbed,
        Self::Autocorrelated,
        Self::Drifting,
    ];
}

/// Runs programs one after the other.
pub struct Machine {
    shape: Shape,
    state: f64,
}

impl Machine {
    /// A machine at its first run.
    #[must_use]
    pub fn new(shape: Shape, noise: &mut Noise) -> Self {
        let state = if matches!(shape, Shape::Autocorrelated) { noise.normal() } else { 0.0 };
        Self { shape, state }
    }

    /// Noise of the next run.
    pub fn run(&mut self, noise: &mut Noise) -> f64 {
        match self.shape {
            Shape::Normal => noise.normal(),
            Shape::Skewed => noise.exponential(),
            Shape::LogNormal => noise.normal().exp(),
            Shape::HeavyTailed => noise.heavy_tailed(),
            Shape::Disturbed => {
                let hit = noise.uniform() < 0.02;
                noise.normal() + if hit { 10.0 } else { 0.0 }
            }
            Shape::Autocorrelated => {
                self.state = 0.95 * self.state + (1.0_f64 - 0.95 * 0.95).sqrt() * noise.normal();
                self.state
            }
            Shape::Drifting => {
                self.state += 0.01;
                self.state + noise.normal()
            }
        }
    }

    /// Log ratio B/A of one block of two runs each, in the order ABBA or BAAB, drawn at random.
    /// Divided by the standard deviation that normal noise would give it: 1.
    pub fn block(&mut self, noise: &mut Noise) -> f64 {
        let [first, second, third, last] = std::array::from_fn(|_| self.run(noise));
        let outer_less_inner = (first + last - second - third) / 2.0;
        if noise.uniform() < 0.5 { outer_less_inner } else { -outer_less_inner }
    }
}
