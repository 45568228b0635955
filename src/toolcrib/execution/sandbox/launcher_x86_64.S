# Makes the system calls of a table, one after another: see steps.py for the table.
# Assemble: as -o x86_64.o launcher_x86_64.S && objcopy -O binary -j .text x86_64.o x86_64.bin
        .text
        .globl  _start
_start: mov     $0x500200, %ebx         # the table: the last error, then the steps
        lea     8(%rbx), %rbp
step:   mov     (%rbp), %rax
        mov     8(%rbp), %rdi
        mov     16(%rbp), %rsi
        mov     24(%rbp), %rdx
        mov     32(%rbp), %r10
        mov     40(%rbp), %r8
        mov     48(%rbp), %r9
        syscall
        cmp     $-4095, %rax
        jae     failed
        mov     56(%rbp), %rbp          # where to go on
        jmp     step
failed: neg     %eax
        mov     %eax, (%rbx)
        mov     64(%rbp), %rbp          # where to go on after an error
        jmp     step
