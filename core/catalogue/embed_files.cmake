# SPDX-License-Identifier: GPL-3.0-or-later
# Writes FILES as byte arrays into the C++ source OUTPUT. Bytes, not raw literals: CMake variables mangle the semicolons
# and brackets of JSON, and string literals have a length limit.
set(arrays "")
set(entries "")
set(index 0)
foreach(path IN LISTS FILES)
  get_filename_component(name ${path} NAME)
  file(READ ${path} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(APPEND arrays "const unsigned char kFile${index}[] = {${bytes}};\n")
  string(APPEND entries "    {\"${name}\", {reinterpret_cast<const char *>(kFile${index}), sizeof kFile${index}}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT} "// Generated from resources/catalog by embed_files.cmake.
#include \"core/catalogue/embedded_files.h\"

namespace trainyard {
namespace {
${arrays}const EmbeddedFile kFiles[] = {
${entries}};
} // namespace

std::span<const EmbeddedFile> embeddedCatalogueFiles() { return kFiles; }

} // namespace trainyard
")
