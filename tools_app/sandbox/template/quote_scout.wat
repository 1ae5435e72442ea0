;; A module as small as they come, written as text. It asks the host for a price, and answers it with a wish to swap.
;; A toolchain (wit-bindgen for Rust, C, Go; componentize for JavaScript, Python) writes everything but $run itself.
(component
  (import "golem:tool/host@1.0.0" (instance $host
    (export "price" (func (param "request" string) (result (result string (error string)))))
    (export "progress" (func (param "step" string)))))

  ;; Memory, and where the host puts the texts it hands over. Nothing is given back: the next call starts anew.
  (core module $libc
    (memory (export "memory") 1)
    (global $top (mut i32) (i32.const 8192))
    (func (export "realloc") (param $old i32) (param $was i32) (param $align i32) (param $size i32) (result i32)
      (local $at i32)
      (local.set $at (i32.and (i32.add (global.get $top) (i32.const 7)) (i32.const -8)))
      (global.set $top (i32.add (local.get $at) (local.get $size)))
      (if (i32.gt_u (global.get $top) (i32.mul (memory.size) (i32.const 65536))) (then (unreachable)))
      (local.get $at)))
  (core instance $libc (instantiate $libc))
  (core func $price (canon lower (func $host "price")
    (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
  (core func $progress (canon lower (func $host "progress") (memory (core memory $libc "memory"))))

  (core module $main
    (import "libc" "memory" (memory 1))
    (import "host" "price" (func $price (param i32 i32 i32)))
    (import "host" "progress" (func $progress (param i32 i32)))
    (data (i32.const 1024) "Reading the price")
    (data (i32.const 1100) "{\"token\":")
    (data (i32.const 1200) "{\"data\":")
    (data (i32.const 1300) ",\"action_requests\":[{\"action_type\":\"swap\",\"venue\":\"uniswap\",\"why\":\"the price was looked up first\",\"params\":")
    (data (i32.const 1500) "}]}")
    (global $end (mut i32) (i32.const 2048))

    ;; Put a text behind what was put before, from 2048 on.
    (func $put (param $from i32) (param $length i32)
      (if (i32.gt_u (i32.add (global.get $end) (local.get $length)) (i32.const 8192)) (then (unreachable)))
      (memory.copy (global.get $end) (local.get $from) (local.get $length))
      (global.set $end (i32.add (global.get $end) (local.get $length))))

    ;; The address behind the first four bytes of a text that read $word.
    (func $behind (param $at i32) (param $word i32) (result i32)
      (loop $look
        (if (i32.eq (i32.load align=1 (local.get $at)) (local.get $word))
          (then (return (i32.add (local.get $at) (i32.const 4)))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $look))
      (unreachable))

    ;; The call reads {"golem":{...},"parameters":{"amount":"...","token_in":"...","token_out":"..."}}, names in order.
    (func (export "run") (param $call i32) (param $length i32) (result i32)
      (local $params i32) (local $token i32) (local $last i32)
      (local.set $last (i32.add (local.get $call) (i32.sub (local.get $length) (i32.const 1))))
      (local.set $params (call $behind (local.get $call) (i32.const 0x3a227372)))       ;; rs":
      (local.set $token (call $behind (local.get $params) (i32.const 0x3a227475)))      ;; ut":
      (call $progress (i32.const 1024) (i32.const 17))
      (call $put (i32.const 1100) (i32.const 9))
      (call $put (local.get $token) (i32.sub (local.get $last) (local.get $token)))
      ;; The host's answer at 16: 0 for ok, else 1; where the text is; how long.
      (call $price (i32.const 2048) (i32.sub (global.get $end) (i32.const 2048)) (i32.const 16))
      (if (i32.load8_u (i32.const 16)) (then (return (i32.const 16))))
      (global.set $end (i32.const 2048))
      (call $put (i32.const 1200) (i32.const 8))
      (call $put (i32.load (i32.const 20)) (i32.load (i32.const 24)))
      (call $put (i32.const 1300) (i32.const 107))
      (call $put (local.get $params) (i32.sub (local.get $last) (local.get $params)))
      (call $put (i32.const 1500) (i32.const 3))
      (i32.store (i32.const 16) (i32.const 0))
      (i32.store (i32.const 20) (i32.const 2048))
      (i32.store (i32.const 24) (i32.sub (global.get $end) (i32.const 2048)))
      (i32.const 16)))
  (core instance $main (instantiate $main (with "libc" (instance $libc))
    (with "host" (instance (export "price" (func $price)) (export "progress" (func $progress))))))
  (func (export "run") (param "call" string) (result (result string (error string)))
    (canon lift (core func $main "run")
      (memory (core memory $libc "memory")) (realloc (core func $libc "realloc")))))
