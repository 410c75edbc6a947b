//! Which links are touched, and what they get.

use super::super::args::facts;
use super::super::features::Choice;
use super::super::unwinder;
use super::*;

#[test]
fn the_runtime_goes_into_programs_that_the_c_library_starts_and_a_note_into_libraries() {
    for (line, part) in [
        ("x.c", Some(Part::Runtime)),
        ("-static x.c", Some(Part::Runtime)),
        ("-nostdlib++ x.cc", Some(Part::Runtime)),
        ("-shared x.c", Some(Part::Library)),
        ("-Wl,-shared x.c", Some(Part::Library)),
        ("-shared -nostdlib x.c", None),
        ("-nostdlib x.c", None),
        ("-nostartfiles x.c", None),
        ("-nodefaultlibs x.c", None),
        ("-nodefaultlibs x.o -lc", Some(Part::Runtime)),
        ("-nolibc x.o -l c", Some(Part::Runtime)),
    ] {
        assert_eq!(part_for(&facts(line), &Request::default()), part, "{line}");
    }
    let mut heap = Request::default();
    heap.add(Choice::from_flag(b"-Rheap").expect("an own flag"));
    assert_eq!(part_for(&facts("-shared x.c"), &heap), None);
}

#[test]
fn a_static_unwinder_is_no_obstacle_only_where_it_is_the_only_one() {
    for (line, refused) in [
        ("x.cc", false),
        ("-static-libgcc x.cc", true),
        ("-static-libgcc -static-libstdc++ x.cc", false),
        ("-static-libgcc -static-libstdc++ -shared x.cc", true),
        ("-shared x.cc", false),
    ] {
        assert_eq!(unwinder::obstacle(&facts(line)).is_some(), refused, "{line}");
    }
}

#[test]
fn what_goes_on_in_libc_is_exported_only_where_libc_is_shared() {
    let mut request = Request::default();
    request.add(Choice::from_flag(b"-Rstack").expect("an own flag"));
    for (line, expected) in [
        ("x.o", true),
        ("-pie x.o", true),
        ("-static-libgcc x.o", true),
        ("-static x.o", false),
        ("-static-pie x.o", false),
    ] {
        let exported = export_prefixes(&facts(line), &request, Unwinder::expected(&facts(line)));
        assert!(exported.contains(&STACK_EXPORT_PREFIX), "{line}");
        assert_eq!(exported.contains(&SHARED_STACK_EXPORT_PREFIX), expected, "{line}");
    }
}

#[test]
fn the_unwinder_is_expected_where_its_archive_is_named() {
    for (line, expected) in [
        ("x.o", Unwinder::Shared),
        ("-static x.o", Unwinder::Own),
        ("-static-libgcc x.o", Unwinder::Shared),
        ("-static-libgcc -static-libstdc++ x.o", Unwinder::Own),
        ("-static-libgcc x.o -l:libstdc++.a -lm", Unwinder::Own),
        ("-static-libgcc x.o /usr/lib/libstdc++.a", Unwinder::Own),
        ("x.o -Wl,-Bstatic -lstdc++ -lgcc_eh -Wl,-Bdynamic", Unwinder::Own),
        ("x.o -Wl,-Bstatic -Wl,-Bdynamic -lstdc++ -lgcc_eh", Unwinder::Shared),
        ("x.o -Wl,-Bstatic,-lstdc++,-lgcc_eh,-Bdynamic", Unwinder::Own),
        ("x.o -l:libstdc++.a -l:libgcc_eh.a", Unwinder::Own),
        ("x.o -static-libstdc++", Unwinder::Shared),
    ] {
        assert_eq!(Unwinder::expected(&facts(line)), expected, "{line}");
    }
}

#[test]
fn another_unwinder_inside_the_image_is_noticed() {
    for (line, inside) in [
        ("x.o", false),
        ("-stdlib=libc++ x.o", false),
        ("-stdlib=libc++ -lunwind x.o", false),
        ("-lunwind -static-libgcc x.o", true),
        ("-static -lunwind x.o", true),
        ("-static x.o", false),
        ("x.o -l:libunwind.so.8", false),
        ("x.o -l :libunwind.a", true),
        ("x.o /usr/lib/llvm-22/lib/libunwind.so.1", false),
        ("x.o ./libunwind.a", true),
        ("x.o libunwind.o -l:libunwinder.a libunwind.c -lunwinder", false),
        ("-rtlib=compiler-rt x.o", false),
        ("-rtlib=compiler-rt -static x.o", true),
        ("--rtlib=compiler-rt --unwindlib=libgcc -static x.o", false),
        ("--rtlib compiler-rt -unwindlib=libunwind -static-libgcc x.o", true),
        ("-rtlib=libgcc -static x.o", false),
    ] {
        assert_eq!(unwinder::links_libunwind(&facts(line)), inside, "{line}");
    }
}

#[test]
fn unwinders_inside_libraries_are_answered_wherever_there_is_a_loader_and_code_moves() {
    for (line, code, expected) in [
        ("x.o", true, true),
        ("-static-libgcc x.o", true, true),
        ("-static-libgcc -static-libstdc++ x.o", true, true),
        ("-static x.o", true, false),
        ("x.o", false, false),
    ] {
        let request = Request::default();
        let request = if code { request } else { request.without(Feature::Code) };
        let exported = export_prefixes(&facts(line), &request, Unwinder::expected(&facts(line)));
        assert_eq!(exported.contains(&SHARED_OBJECTS_EXPORT_PREFIX), expected, "{line}");
    }
}
