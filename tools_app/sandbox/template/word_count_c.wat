;; word_count.c as the page about modules builds it, with ziglang 0.17.1 and jco-transpile 0.15.0, printed as text.
(component
  (type $ty-golem:tool/host@1.0.0 (;0;)
    (instance
      (type (;0;) (func (param "line" string)))
      (export (;0;) "log" (func (type 0)))
    )
  )
  (import "golem:tool/host@1.0.0" (instance $golem:tool/host@1.0.0 (;0;) (type $ty-golem:tool/host@1.0.0)))
  (core module $main (;0;)
    (type (;0;) (func (param i32 i32)))
    (type (;1;) (func (param i32 i32 i32 i32) (result i32)))
    (type (;2;) (func (param i32 i32) (result i32)))
    (import "golem:tool/host@1.0.0" "log" (func (;0;) (type 0)))
    (table (;0;) 1 1 funcref)
    (memory (;0;) 18)
    (global (;0;) (mut i32) i32.const 1048576)
    (export "memory" (memory 0))
    (export "cabi_realloc" (func 1))
    (export "run" (func 2))
    (func (;1;) (type 1) (param i32 i32 i32 i32) (result i32)
      block ;; label = @1
        local.get 3
        i32.const 65536
        local.get 2
        i32.const 0
        i32.load offset=1048624
        i32.add
        i32.const -1
        i32.add
        i32.const 0
        local.get 2
        i32.sub
        i32.and
        local.tee 2
        i32.sub
        i32.le_u
        br_if 0 (;@1;)
        unreachable
      end
      i32.const 0
      local.get 2
      local.get 3
      i32.add
      i32.store offset=1048624
      local.get 2
      i32.const 1048640
      i32.add
    )
    (func (;2;) (type 2) (param i32 i32) (result i32)
      (local i32 i32 i32 i32 i32)
      i32.const 1048576
      i32.const 8
      call 0
      block ;; label = @1
        block ;; label = @2
          local.get 1
          br_if 0 (;@2;)
          i32.const 0
          local.set 2
          br 1 (;@1;)
        end
        i32.const 0
        local.set 3
        i32.const 1
        local.set 4
        i32.const 0
        local.set 5
        loop ;; label = @2
          local.get 3
          i32.const 1
          i32.add
          local.tee 2
          local.get 1
          i32.ge_u
          br_if 1 (;@1;)
          local.get 4
          local.get 0
          local.get 3
          i32.add
          i32.load8_u
          local.tee 3
          i32.const 34
          i32.eq
          local.get 3
          local.get 5
          i32.load8_u offset=1048612
          i32.eq
          select
          local.tee 5
          i32.const 1
          i32.add
          local.set 4
          local.get 2
          local.set 3
          local.get 5
          i32.const 7
          i32.lt_u
          br_if 0 (;@2;)
        end
      end
      block ;; label = @1
        local.get 2
        local.get 1
        i32.ge_u
        br_if 0 (;@1;)
        loop ;; label = @2
          local.get 0
          local.get 2
          i32.add
          i32.load8_u
          i32.const 34
          i32.eq
          br_if 1 (;@1;)
          local.get 1
          local.get 2
          i32.const 1
          i32.add
          local.tee 2
          i32.ne
          br_if 0 (;@2;)
        end
        local.get 1
        local.set 2
      end
      block ;; label = @1
        block ;; label = @2
          block ;; label = @3
            block ;; label = @4
              local.get 2
              i32.const 1
              i32.add
              local.tee 4
              local.get 1
              i32.lt_u
              br_if 0 (;@4;)
              i32.const 0
              local.set 3
              br 1 (;@3;)
            end
            i32.const 0
            local.set 3
            i32.const 1
            local.set 6
            block ;; label = @4
              loop ;; label = @5
                block ;; label = @6
                  block ;; label = @7
                    local.get 0
                    local.get 4
                    i32.add
                    i32.load8_u
                    local.tee 5
                    i32.const 92
                    i32.eq
                    br_if 0 (;@7;)
                    local.get 4
                    local.set 2
                    local.get 5
                    i32.const 34
                    i32.ne
                    br_if 1 (;@6;)
                    br 3 (;@4;)
                  end
                  local.get 0
                  local.get 2
                  i32.const 2
                  i32.add
                  local.tee 2
                  i32.add
                  i32.load8_u
                  local.set 5
                end
                local.get 3
                local.get 6
                local.get 5
                i32.const 255
                i32.and
                local.tee 5
                i32.const 32
                i32.ne
                i32.and
                i32.add
                local.set 3
                local.get 5
                i32.const 32
                i32.eq
                local.set 6
                local.get 2
                i32.const 1
                i32.add
                local.tee 4
                local.get 1
                i32.lt_u
                br_if 0 (;@5;)
              end
            end
            local.get 3
            i32.const 10
            i32.ge_u
            br_if 1 (;@2;)
          end
          i32.const 1
          local.set 0
          br 1 (;@1;)
        end
        i32.const 1
        local.set 0
        local.get 3
        local.set 2
        loop ;; label = @2
          local.get 0
          i32.const 1
          i32.add
          local.set 0
          local.get 2
          i32.const 99
          i32.gt_u
          local.set 5
          local.get 2
          i32.const 10
          i32.div_u
          local.set 2
          local.get 5
          br_if 0 (;@2;)
        end
      end
      i32.const -19
      local.set 2
      loop ;; label = @1
        local.get 2
        i32.const 1114195
        i32.add
        local.get 2
        i32.const 1048611
        i32.add
        i32.load8_u
        i32.store8
        local.get 2
        i32.const 1
        i32.add
        local.tee 2
        br_if 0 (;@1;)
      end
      block ;; label = @1
        local.get 0
        i32.eqz
        br_if 0 (;@1;)
        local.get 0
        local.set 2
        loop ;; label = @2
          local.get 2
          i32.const 1114194
          i32.add
          local.get 3
          local.get 3
          i32.const 10
          i32.div_u
          local.tee 5
          i32.const 10
          i32.mul
          i32.sub
          i32.const 48
          i32.or
          i32.store8
          local.get 5
          local.set 3
          local.get 2
          i32.const -1
          i32.add
          local.tee 2
          br_if 0 (;@2;)
        end
      end
      i32.const 0
      i32.const 1114176
      i32.store offset=1114244
      i32.const 0
      local.get 0
      i32.const 21
      i32.add
      i32.store offset=1114248
      local.get 0
      i32.const 1114195
      i32.add
      i32.const 32125
      i32.store16 align=1
      i32.const 0
      i32.const 0
      i32.store offset=1114240
      i32.const 1114240
    )
    (data (;0;) (i32.const 1048576) "counting\00\00\00\00\00\00\00\00{\22data\22: {\22words\22: \00\22text\22:\00")
    (@producers
      (processed-by "wit-component" "0.259.0")
    )
  )
  (core module $wit-component-shim-module (;1;)
    (type (;0;) (func (param i32 i32)))
    (table (;0;) 1 1 funcref)
    (export "0" (func 0))
    (export "$imports" (table 0))
    (func (;0;) (type 0) (param i32 i32)
      local.get 0
      local.get 1
      i32.const 0
      call_indirect (type 0)
    )
    (@producers
      (processed-by "wit-component" "0.259.0")
    )
  )
  (core instance $wit-component-shim-instance (;0;) (instantiate $wit-component-shim-module))
  (alias core export $wit-component-shim-instance "0" (core func $indirect-golem:tool/host@1.0.0-log (;0;)))
  (core instance $golem:tool/host@1.0.0 (;1;)
    (export "log" (func $indirect-golem:tool/host@1.0.0-log))
  )
  (core instance $main (;2;) (instantiate $main
      (with "golem:tool/host@1.0.0" (instance $golem:tool/host@1.0.0))
    )
  )
  (alias core export $main "memory" (core memory $memory (;0;)))
  (core module $wit-component-fixup (;2;)
    (type (;0;) (func (param i32 i32)))
    (import "actual" "0" (func (;0;) (type 0)))
    (import "shim" "$imports" (table (;0;) 1 1 funcref))
    (elem (;0;) (i32.const 0) func 0)
    (@producers
      (processed-by "wit-component" "0.259.0")
    )
  )
  (alias export $golem:tool/host@1.0.0 "log" (func $log (;0;)))
  (core func $"#core-func1 indirect-golem:tool/host@1.0.0-log" (@name "indirect-golem:tool/host@1.0.0-log") (;1;) (canon lower (func $log) (memory $memory) string-encoding=utf8))
  (core instance $actual (;3;)
    (export "0" (func $"#core-func1 indirect-golem:tool/host@1.0.0-log"))
  )
  (core instance $fixup (;4;) (instantiate $wit-component-fixup
      (with "actual" (instance $actual))
      (with "shim" (instance $wit-component-shim-instance))
    )
  )
  (type (;1;) (result string (error string)))
  (type (;2;) (func (param "call" string) (result 1)))
  (alias core export $main "run" (core func $run (;2;)))
  (alias core export $main "cabi_realloc" (core func $cabi_realloc (;3;)))
  (func $run (;1;) (type 2) (canon lift (core func $run) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (export $"#func2 run" (@name "run") (;2;) "run" (func $run))
  (@producers
    (processed-by "wit-component" "0.259.0")
  )
)
