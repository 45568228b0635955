// llama.cpp's converter of JSON Schema to grammar as a filter: one schema a line in,
// {"grammar": ...} or {"error": ...} a line out. Built against an old and a new release.
#include "json-schema-to-grammar.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#if __has_include("json.h")
#include "json.h"
using Schema = common_json;
#else
using Schema = nlohmann::ordered_json;
#endif

// The four functions that the converter takes from the rest of llama.cpp.
std::string string_join(const std::vector<std::string> &values, const std::string &separator) {
    std::string joined;
    for (size_t i = 0; i < values.size(); ++i) {
        joined += (i > 0 ? separator : "") + values[i];
    }
    return joined;
}

std::vector<std::string> string_split(const std::string &text, const std::string &delimiter) {
    std::vector<std::string> parts;
    size_t start = 0;
    for (size_t end; (end = text.find(delimiter, start)) != std::string::npos;) {
        parts.push_back(text.substr(start, end - start));
        start = end + delimiter.size();
    }
    parts.push_back(text.substr(start));
    return parts;
}

std::string string_repeat(const std::string &text, size_t count) {
    std::string repeated;
    for (size_t i = 0; i < count; ++i) {
        repeated += text;
    }
    return repeated;
}

extern "C" [[noreturn]] void ggml_abort(const char *file, int line, const char *format, ...) {
    std::fprintf(stderr, "%s:%d: ", file, line);
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    va_end(arguments);
    std::abort();
}

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        nlohmann::json answer;
        try {
            answer["grammar"] = json_schema_to_grammar(Schema::parse(line), true);
        } catch (const std::exception &error) {
            answer["error"] = error.what();
        }
        std::cout << answer.dump() << std::endl;
    }
}
