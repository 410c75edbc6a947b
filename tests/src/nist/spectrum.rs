//! FFT: the Discrete Fourier Transform (Spectral) test, section 2.6 of the standard.

use realfft::RealFftPlanner;
use statrs::function::erf::erfc;
use std::f64::consts::SQRT_2;

/// The FFT test: are there more or fewer peaks than the 5 % that chance lets rise above the line?
#[must_use]
pub fn fft(bits: &[bool]) -> f64 {
    let n = bits.len() as f64;
    let mut signal: Vec<f64> = bits.iter().map(|&bit| if bit { 1.0 } else { -1.0 }).collect();
    let transform = RealFftPlanner::new().plan_fft_forward(signal.len());
    let mut spectrum = transform.make_output_vec();
    transform.process(&mut signal, &mut spectrum).expect("both lengths are the planner's");
    let line = ((1.0 / 0.05_f64).ln() * n).sqrt();
    let below = spectrum[..bits.len() / 2].iter().filter(|peak| peak.norm() < line).count();
    let deviation = (below as f64 - 0.95 * n / 2.0) / (n * 0.95 * 0.05 / 4.0).sqrt();
    erfc(deviation.abs() / SQRT_2)
}
