;; Continuations, exceptions, deep recursion, garbage: Chicken takes the C stack as a heap.
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))

(define (descend n)
  (if (= n 0) (call-with-current-continuation (lambda (k) 0)) (+ 1 (descend (- n 1)))))

(define (generate tree)
  (define return #f)
  (define (visit tree)
    (if (pair? tree)
        (begin (visit (car tree)) (visit (cdr tree)))
        (call-with-current-continuation
          (lambda (rest)
            (set! resume (lambda () (rest #f)))
            (return tree)))))
  (define resume (lambda () (visit tree) (return 'end)))
  (lambda () (call-with-current-continuation (lambda (k) (set! return k) (resume)))))

(define (leaves tree)
  (let ((next (generate tree)))
    (let loop ((leaf (next)) (all '()))
      (if (eq? leaf 'end) (reverse all) (loop (next) (cons leaf all))))))

(define (early list)
  (call-with-current-continuation
    (lambda (return)
      (for-each (lambda (x) (if (> x 500) (return x))) list)
      #f)))

(define (numbers n) (let loop ((i 0) (all '())) (if (= i n) all (loop (+ i 1) (cons (modulo (* i 7919) 1009) all)))))

(define (sum list) (if (null? list) 0 (+ (car list) (sum (cdr list)))))

(display (list (fib 22) (descend 100000) (leaves '((1 2) (3 (4 5)) 6))))
(newline)
(let loop ((i 0) (total 0))
  (if (< i 200)
      (loop (+ i 1) (+ total (early (numbers 1000)) (sum (numbers 1000))))
      (begin (display total) (newline))))
(define log '())
(dynamic-wind
  (lambda () (set! log (cons 'in log)))
  (lambda () (call-with-current-continuation (lambda (k) (k 1))))
  (lambda () (set! log (cons 'out log))))
(display (list log (string-length (apply string-append (map number->string (numbers 5000))))))
(newline)
(let ((table (make-vector 1000 '())))
  (for-each (lambda (n) (vector-set! table (modulo n 1000) (cons n (vector-ref table (modulo n 1000))))) (numbers 20000))
  (display (apply + (map length (vector->list table)))))
(newline)
