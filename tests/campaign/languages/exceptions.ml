(* Exceptions, garbage collection with finalisers, deep recursion, closures, threads of the system. *)
exception Depth of int

let rec descend n = if n = 0 then raise (Depth 0) else 1 + (try descend (n - 1) with Depth d when d >= 0 -> raise (Depth (d + 1)))
let rec sum = function [] -> 0 | x :: rest -> x + sum rest
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)

module Numbers = Map.Make (Int)

let () =
  let total = ref 0 in
  for i = 1 to 200 do
    (try total := !total + descend (i mod 90) with Depth d -> total := !total + d);
    if i mod 50 = 0 then Gc.compact ()
  done;
  Printf.printf "%d %d\n" !total (fib 25);
  let numbers = ref Numbers.empty in
  for i = 1 to 50000 do
    numbers := Numbers.add (i * 7919 mod 50021) (string_of_int i) !numbers
  done;
  Printf.printf "%d\n" (Numbers.fold (fun _ text length -> length + String.length text) !numbers 0);
  let finalised = ref 0 in
  for i = 1 to 1000 do
    Gc.finalise (fun _ -> incr finalised) (Bytes.make i 'x')
  done;
  Gc.full_major ();
  Printf.printf "%b %d\n" (!finalised > 900) (sum (List.init 20000 (fun i -> i)));
  let results = Array.make 4 0 in
  let threads =
    Array.init 4 (fun n ->
        Thread.create
          (fun () ->
            for i = 1 to 30 do
              results.(n) <- results.(n) + fib (15 + (n mod 3));
              if i mod 10 = 0 then Thread.yield ();
              (try ignore (descend 20) with Depth d -> results.(n) <- results.(n) + d);
              ignore (List.sort compare (List.init 500 (fun i -> i * 7919 mod 503)))
            done)
          ())
  in
  Array.iter Thread.join threads;
  Array.iter (Printf.printf "%d ") results;
  (try ignore (List.hd []) with Failure text -> Printf.printf "%s\n" text);
  (try ignore ([||].(1)) with Invalid_argument text -> Printf.printf "%s\n" text);
  try ignore (1 / int_of_string "0") with Division_by_zero -> print_endline "division"
