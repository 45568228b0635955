// Makes the system calls of a table, one after another: see steps.py for the table.
// Assemble: as -o aarch64.o launcher_aarch64.S && objcopy -O binary -j .text aarch64.o aarch64.bin
        .text
        .globl  _start
_start: movz    x19, #0x0200            // the table: the last error, then the steps
        movk    x19, #0x0050, lsl #16
        add     x20, x19, #8
step:   ldp     x8, x0, [x20]
        ldp     x1, x2, [x20, #16]
        ldp     x3, x4, [x20, #32]
        ldr     x5, [x20, #48]
        svc     #0
        cmn     x0, #4095
        b.hs    failed
        ldr     x20, [x20, #56]         // where to go on
        b       step
failed: neg     w0, w0
        str     w0, [x19]
        ldr     x20, [x20, #64]         // where to go on after an error
        b       step
