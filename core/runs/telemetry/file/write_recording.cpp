// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/output_file.h"
#include "core/runs/telemetry/file/check_recording.h"
#include "core/runs/telemetry/file/gzip_json_internal.h"
#include "core/runs/telemetry/file/recording_fields_internal.h"
#include "core/runs/telemetry/file/source_kind_ids.h"
#include "core/runs/telemetry/recording_file.h"

namespace trainyard {

namespace recording_file {

namespace {

/// Writes what it visits; what is empty is left out.
class RecordingWriter {
public:
    RecordingWriter(GzipJson &json, const SourceOptions &options)
        : m_json(json)
        , m_options(options)
    {
    }

    void write(const Recording &recording)
    {
        m_json.raw("{\"format\":\"");
        m_json.raw(kFormat);
        m_json.raw("\",\"version\":");
        m_json.whole(Recording::kVersion);
        m_isFirst = false;
        describe(*this, recording);
        m_json.raw("}\n");
    }

    void text(const char *name, const std::string &value, const char *)
    {
        if (!value.empty())
            key(name), m_json.text(value);
    }
    void flag(const char *name, bool value, const char *) { key(name), m_json.raw(value ? "true" : "false"); }
    void whole(const char *name, std::int64_t value, const char *) { key(name), m_json.whole(value); }
    void real(const char *name, double value, const char *) { key(name), m_json.real(value); }
    void known(const char *name, int value, const char *) { key(name), orNull(value, value == -1); }
    void index(const char *name, std::uint32_t value, const char *) { key(name), orNull(value, value == kNoIndex); }
    void kind(const char *name, SourceKind value, const char *) { key(name), m_json.text(idOf(value)); }

    void texts(const char *name, const std::vector<std::string> &values, const char *)
    {
        array(name, values, [&](const std::string &value) { m_json.text(value); });
    }
    void wholes(const char *name, const std::vector<int> &values, const char *)
    {
        array(name, values, [&](int value) { m_json.whole(value); });
    }
    void map(const char *name, const std::map<std::string, std::string> &values, const char *)
    {
        if (values.empty())
            return;
        key(name);
        m_json.raw("{");
        for (bool isFirst = true; const auto &[inside, value] : values) {
            m_json.raw(isFirst ? "" : ",");
            m_json.text(inside);
            m_json.raw(":");
            m_json.text(value);
            isFirst = false;
        }
        m_json.raw("}");
    }

    template <class T> void list(const char *name, const std::vector<T> &values, const char *)
    {
        std::size_t done = 0;
        array(name, values, [&](const T &value) {
            m_json.raw("\n");
            braces([&] { describe(*this, value); });
            if (std::same_as<T, RankRecording> && m_options.progress)
                m_options.progress(double(++done) / double(values.size()));
        });
    }
    template <class T> void object(const char *name, const T &value, const char *)
    {
        key(name);
        braces([&] { describe(*this, value); });
    }
    template <class T> void table(const char *name, const std::vector<T> &rows, const char *)
    {
        if (rows.empty())
            return;
        key(name);
        braces([&] { describeColumns(*this, rows); });
    }

    template <class T> void column(const char *name, const std::vector<T> &values, Coding coding, const char *)
    {
        T before {};
        array(name, values, [&](T value) { cell(value, before, coding); });
    }
    /// Launches as spans have them are moments; in the file they are relative to the starts.
    template <class T>
    void launches(const char *name, const std::vector<T> &starts, const std::vector<T> &values, const char *)
    {
        std::size_t i = 0;
        array(name, values, [&](T value) { orNull(difference(starts[i++], value), value == kNoMoment); });
    }
    template <class T, class Value>
    void rows(const char *name, const std::vector<T> &values, Value T::*member, Coding coding, const char *)
    {
        Value before {};
        array(name, values, [&](const T &row) { cell(row.*member, before, coding); });
    }

private:
    static std::int64_t difference(std::int64_t value, std::int64_t from)
    {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(from));
    }

    template <class T> void cell(T value, T &before, Coding coding)
    {
        if constexpr (std::same_as<T, double>) {
            m_json.real(value);
        } else {
            const auto whole = static_cast<std::int64_t>(value);
            if (coding == Coding::Difference)
                m_json.whole(difference(whole, static_cast<std::int64_t>(before)));
            else
                orNull(whole, coding == Coding::OrNull && value == static_cast<T>(-1));
            before = value;
        }
    }
    void orNull(std::int64_t value, bool isNull) { isNull ? m_json.raw("null") : m_json.whole(value); }

    template <class T, class Write> void array(const char *name, const std::vector<T> &values, const Write &write)
    {
        if (values.empty())
            return;
        key(name);
        m_json.raw("[");
        for (std::size_t i = 0; i < values.size() && !m_json.isStopped(); ++i) {
            if (i > 0)
                m_json.raw(",");
            write(values[i]);
        }
        m_json.raw("]");
    }
    template <class Write> void braces(const Write &write)
    {
        m_json.raw("{");
        m_isFirst = true;
        write();
        m_json.raw("}");
        m_isFirst = false;
    }
    void key(const char *name)
    {
        m_json.raw(m_isFirst ? "\"" : ",\"");
        m_json.raw(name);
        m_json.raw("\":");
        m_isFirst = false;
    }

    GzipJson &m_json;
    const SourceOptions &m_options;
    bool m_isFirst = true; // in its object
};

/// Hands on packed bytes until the stop token is triggered.
Expected<void> format(const Recording &recording, const SourceOptions &options, const GzipJson::Take &take)
{
    if (auto sound = checkRecording(recording); !sound)
        return sound;
    GzipJson json([&](std::string_view packed) { return !options.stop.stop_requested() && take(packed); });
    RecordingWriter(json, options).write(recording);
    if (!json.finish() || options.stop.stop_requested())
        return std::unexpected(Error { ErrorCode::Cancelled, "", "cancelled", "" });
    return {};
}

} // namespace

} // namespace recording_file

Expected<std::string> formatRecording(const Recording &recording, const SourceOptions &options)
{
    std::string bytes;
    const auto formatted = recording_file::format(recording, options, [&](std::string_view packed) {
        bytes += packed;
        return true;
    });
    if (!formatted)
        return std::unexpected(formatted.error());
    return bytes;
}

Expected<void> writeRecording(const Recording &recording, const std::string &path, const SourceOptions &options)
{
    Expected<void> formatted;
    auto written = writeOutputFile(path, [&](std::ostream &out) {
        formatted = recording_file::format(recording, options,
            [&](std::string_view packed) { return bool(out.write(packed.data(), std::streamsize(packed.size()))); });
        if (!formatted)
            out.setstate(std::ios::badbit); // what was there stays
    });
    const bool isFull = !formatted && formatted.error().code == ErrorCode::Cancelled && !options.stop.stop_requested();
    if (!formatted && !isFull) {
        Error error = formatted.error();
        error.where = path + (error.where.empty() ? "" : ": " + error.where);
        return std::unexpected(std::move(error));
    }
    return written;
}

} // namespace trainyard
