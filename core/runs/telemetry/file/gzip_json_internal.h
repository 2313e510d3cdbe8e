#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// JSON written straight into gzip: pieces are appended to a buffer of some kilobytes, which is packed and handed on
// when it is full, so that nothing is there twice. The same pieces give the same bytes. One thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace trainyard::recording_file {

class GzipJson {
public:
    /// Takes packed bytes; false: nothing more is wanted.
    using Take = std::function<bool(std::string_view packed)>;
    explicit GzipJson(Take take);
    ~GzipJson();
    GzipJson(const GzipJson &) = delete;
    GzipJson &operator=(const GzipJson &) = delete;

    void raw(std::string_view text)
    {
        m_buffer += text;
        if (m_buffer.size() >= kBuffer)
            pack(false);
    }
    void whole(std::int64_t value);
    /// The shortest text that is this number again; null where it is none, "Infinity" and "-Infinity" in quotes.
    void real(double value);
    /// In quotes. Bytes that are no UTF-8 as characters U+EF80 to U+EFFF, and such characters byte by byte, so that
    /// every text comes back as it was (as OPTU-8 of MirBSD has it).
    void text(std::string_view text);

    /// Packs what is left. False where `take` wanted no more.
    bool finish();
    [[nodiscard]] bool isStopped() const { return m_isStopped; }

private:
    static constexpr std::size_t kBuffer = std::size_t(64) << 10;
    void pack(bool isLast);
    struct Deflater;

    Take m_take;
    std::string m_buffer, m_packed;
    std::unique_ptr<Deflater> m_deflater;
    bool m_isStopped = false;
};

} // namespace trainyard::recording_file
