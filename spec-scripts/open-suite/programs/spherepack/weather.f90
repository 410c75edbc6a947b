! Weather of a sphere without heights: the barotropic vorticity equation by SPHEREPACK's spherical harmonics.
!
!   d(zeta)/dt = -u . grad(zeta + f),   the test case of Rossby and Haurwitz' wave number 4 (Williamson et al.,
!   J. Comput. Phys. 102, 1992, case 6), disturbed a little; leapfrog with Robert's filter, truncated at T42.
!
! Usage: weather STEPS   (of 10 minutes; a line is printed for every 36 of them)
program weather
  implicit none
  integer, parameter :: nlat = 64, nlon = 128, waves = 42
  integer, parameter :: lsave = 2000000, lwork = 1000000, ldwork = 100000
  real, parameter :: pi = 3.14159265, omega = 7.292e-5, step = 600.0, radius = 6.37122e6
  real, parameter :: speed = 7.848e-6, filter = 0.02, damping = 2.0e-2
  integer, parameter :: number = 4

  real :: scalars(lsave), vectors(lsave), work(lwork)
  double precision :: dwork(ldwork), theta(nlat), weight(nlat)
  real :: before(nlat, nlon), now(nlat, nlon), after(nlat, nlon), total(nlat, nlon), planet(nlat, nlon)
  real :: south(nlat, nlon), east(nlat, nlon), slope_south(nlat, nlon), slope_east(nlat, nlon)
  real :: a(nlat, nlat), b(nlat, nlat)
  real :: latitude, longitude, disturbance
  integer :: steps, k, i, j
  character(len = 32) :: word

  call get_command_argument(1, word)
  read (word, *) steps
  call gaqd(nlat, theta, weight, dwork, ldwork, k)
  call demand(k, 'gaqd')
  ! It serves shsgs as well, whose own one forgets a part in this version.
  call shagsi(nlat, nlon, scalars, lsave, work, lwork, dwork, ldwork, k)
  call demand(k, 'shagsi')
  call vhsgsi(nlat, nlon, vectors, lsave, dwork, ldwork, k)
  call demand(k, 'vhsgsi')

  do j = 1, nlon
    longitude = 2.0 * pi * (j - 1) / nlon
    do i = 1, nlat
      latitude = 0.5 * pi - real(theta(i))
      planet(i, j) = 2.0 * omega * sin(latitude)
      disturbance = 0.05 * speed * exp(-20.0 * ((latitude - 0.7)**2 + (longitude - 2.0)**2))
      now(i, j) = 2.0 * speed * sin(latitude) + disturbance - speed * sin(latitude) * cos(latitude)**number &
        * (number**2 + 3 * number + 2) * cos(number * longitude)
    end do
  end do
  before = now

  do k = 1, steps
    total = now + planet
    call spectrum(total)
    call gradgs(nlat, nlon, 0, 1, slope_south, slope_east, nlat, nlon, a, b, nlat, nlat, vectors, lsave, work, lwork, i)
    call demand(i, 'gradgs')
    call spectrum(now)
    call ivrtgs(nlat, nlon, 0, 1, south, east, nlat, nlon, a, b, nlat, nlat, vectors, lsave, work, lwork, disturbance, i)
    call demand(i, 'ivrtgs')
    after = merge(before, now, k > 1) - merge(2.0, 1.0, k > 1) * step * (south * slope_south + east * slope_east)
    call spectrum(after)
    call damp
    call shsgs(nlat, nlon, 0, 1, after, nlat, nlon, a, b, nlat, nlat, scalars, lsave, work, lwork, i)
    call demand(i, 'shsgs')
    before = now + filter * (before - 2.0 * now + after)
    now = after
    if (mod(k, 36) == 0) call report
  end do

contains

  ! The harmonics of a field, into a and b.
  subroutine spectrum(field)
    real, intent(in) :: field(nlat, nlon)
    integer :: error
    call shags(nlat, nlon, 0, 1, field, nlat, nlon, a, b, nlat, nlat, scalars, lsave, work, lwork, error)
    call demand(error, 'shags')
  end subroutine

  ! Takes away what the grid cannot square, and some of the smallest of the rest.
  subroutine damp
    integer :: degree
    real :: keep
    do degree = 0, nlat - 1
      keep = 0.0
      if (degree <= waves) keep = 1.0 / (1.0 + damping * (real(degree) / waves)**8)
      a(:, degree + 1) = keep * a(:, degree + 1)
      b(:, degree + 1) = keep * b(:, degree + 1)
    end do
  end subroutine

  subroutine report
    double precision :: energy, enstrophy
    integer :: row
    energy = 0
    enstrophy = 0
    do row = 1, nlat
      energy = energy + weight(row) * sum(dble(south(row, :))**2 + dble(east(row, :))**2)
      enstrophy = enstrophy + weight(row) * sum(dble(now(row, :))**2)
    end do
    print '(a, f7.2, a, f8.0, a, f9.3, a, f7.1)', 'day', k * step / 86400.0, &
      '  energy', energy * radius**2 / (4 * nlon), '  enstrophy', enstrophy * 1e10 / (4 * nlon), &
      '  fastest', radius * sqrt(maxval(south**2 + east**2))
  end subroutine

  subroutine demand(error, who)
    integer, intent(in) :: error
    character(len = *), intent(in) :: who
    if (error /= 0) then
      print '(3a, i0)', 'error of ', who, ': ', error
      stop 1
    end if
  end subroutine
end program

! Where vhsgs keeps the coefficient of order m and degree n. It calls this function, which the library lacks: only
! all degrees of order 0, then those from 1 of order 1, and so on, gives each its own place.
integer function indx(m, n, nlat)
  implicit none
  integer, intent(in) :: m, n, nlat
  indx = m * nlat - m * (m + 1) / 2 + n + 1
end function
