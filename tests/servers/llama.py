"""A real llama.cpp server with a model of random weights; run by an interpreter that has it.

    python llama.py VOCABULARY.gguf FOLDER

Makes FOLDER/random.gguf with the tokenizer of the vocabulary, serves it on a free port of
loopback, prints the address, and ends when its standard input is closed.
"""

import sys
from pathlib import Path

WIDTH, LENGTH = 64, 8192


def make(vocabulary: Path, target: Path) -> None:
    """A model of one layer that has this tokenizer."""
    import gguf
    import numpy as np

    reader = gguf.GGUFReader(str(vocabulary))
    writer = gguf.GGUFWriter(str(target), "llama")
    for name, found in reader.fields.items():
        if name.startswith("tokenizer."):
            kind = found.types[0]
            inner = found.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
            writer.add_key_value(name, found.contents(), kind, sub_type=inner)
    count = len(reader.fields["tokenizer.ggml.tokens"].data)
    writer.add_context_length(LENGTH)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(WIDTH)
    writer.add_head_count(4)
    writer.add_head_count_kv(4)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(count)
    writer.add_rope_dimension_count(WIDTH // 4)
    random = np.random.default_rng(1)

    def add(name: str, *shape: int) -> None:
        kind = np.float32 if len(shape) == 1 else np.float16
        writer.add_tensor(name, random.standard_normal(shape).astype(kind) * 0.02)

    add("token_embd.weight", count, WIDTH)
    add("output_norm.weight", WIDTH)
    add("output.weight", count, WIDTH)
    for part in ("attn_norm", "ffn_norm"):
        add(f"blk.0.{part}.weight", WIDTH)
    for part in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        add(f"blk.0.{part}.weight", WIDTH, WIDTH)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    vocabulary, folder = map(Path, sys.argv[1:3])
    target = folder / "random.gguf"
    make(vocabulary, target)
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(target)
    params.port = 0
    params.n_ctx = LENGTH
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.warmup = False
    server = xllamacpp.Server(params)
    address = server.listening_address
    sys.stdout.write(f"{address}\n" if str(address).startswith("http") else f"http://{address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    del server


if __name__ == "__main__":
    main()
