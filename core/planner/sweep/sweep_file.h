#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The file that a sweep writes. It grows in place, row by row: a sweep may take days, and what has been worked out has
// to survive kill -9, which a temporary file that takes its name at the end would not. So at every moment it holds a
// head and whole rows in the order of their numbers, but for the last line, which may be torn: whoever goes on drops
// that. One process writes it at a time (a lock says so).
//
//   auto file = SweepFile::open("out.csv", spec, SweepFormat::Csv, SweepFile::Start::Resume);
//   file->append(lines of rows from file->rows() on);

#include "core/planner/sweep/sweep_lines.h"

namespace trainyard {

class SweepFile {
public:
    enum class Start : std::uint8_t {
        /// what is there is replaced, unless it is a sweep that is not done
        New,
        /// goes on with what is there, or begins
        Resume,
    };

    /// "-" is standard output. Pipes and devices are written through, and cannot be gone on with.
    /// Errors: cannot be opened; another process writes it; New: an unfinished sweep is there; Resume: another file, or
    /// another sweep, and what differs.
    [[nodiscard]] static Expected<SweepFile> open(
        const std::string &path, const SweepSpec &spec, SweepFormat format, Start start);
    ~SweepFile();
    SweepFile(SweepFile &&other) noexcept;
    SweepFile &operator=(SweepFile &&) = delete;

    /// How many were there when it was opened: the number of the first row to append.
    [[nodiscard]] std::uint64_t rowsThere() const { return m_rowsThere; }
    /// The last of them as it stands there, without its end; empty where there is none.
    [[nodiscard]] const std::string &lastRow() const { return m_lastRow; }
    [[nodiscard]] bool isRegular() const { return m_isRegular; }
    /// Whole lines, at once. Errors: CannotWrite; then the file ends with the last whole line before it.
    [[nodiscard]] Expected<void> append(std::string_view lines);
    /// What was appended lies on the disk.
    [[nodiscard]] Expected<void> sync();

private:
    SweepFile(int descriptor, std::string path);
    [[nodiscard]] Expected<void> begin(const SweepSpec &spec, SweepFormat format, Start start);
    [[nodiscard]] Expected<void> goOn(const SweepSpec &spec, SweepFormat format, const std::string &head);

    int m_descriptor = -1;
    std::string m_path, m_lastRow;
    bool m_isRegular = false;
    /// bytes
    std::uint64_t m_rowsThere = 0, m_size = 0;
};

} // namespace trainyard
