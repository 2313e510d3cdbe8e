#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Visits a Recording's values as recording_fields_internal.h describes them, and reads those whose key came. Memory is
// bounded by the text: a list has at most as many objects as kMostObjects, rows at most as many as their columns have
// room for.

#include "core/runs/telemetry/file/json_pull_internal.h"
#include "core/runs/telemetry/file/recording_fields_internal.h"
#include "core/runs/telemetry/file/source_kind_ids.h"
#include "core/runs/telemetry/read_sources.h"

#include <utility>

namespace trainyard::recording_file {

class RecordingReader {
public:
    RecordingReader(std::string_view text, const SourceOptions &options)
        : m_json(text)
        , m_size(text.size())
        , m_options(options)
    {
    }

    /// False: see json(), pointer() and isCancelled().
    bool read(Recording &recording);

    [[nodiscard]] const JsonPull &json() const { return m_json; }
    [[nodiscard]] std::string pointer() const;
    [[nodiscard]] bool isCancelled() const { return m_isCancelled; }
    [[nodiscard]] const std::vector<std::string> &unknown() const { return m_unknown; } // pointers of the first
    [[nodiscard]] std::int64_t unknownCount() const { return m_unknownCount; }
    [[nodiscard]] std::int64_t cutStreams() const { return m_cutStreams; } // whose spans the end of the text cuts

    // What describe() calls, for each key of an object
    void text(const char *name, std::string &value, const char *)
    {
        if (isFor(name))
            m_json.readText(value);
    }
    void text(const char *name, SharedText &value, const char *meaning)
    {
        std::string own;
        text(name, own, meaning);
        if (!own.empty())
            value = m_seriesTexts(own);
    }
    void flag(const char *name, bool &value, const char *)
    {
        if (isFor(name))
            m_json.readFlag(value);
    }
    template <class T> void whole(const char *name, T &value, const char *)
    {
        if (isFor(name))
            readWhole(value);
    }
    void real(const char *name, double &value, const char *)
    {
        if (isFor(name))
            m_json.readReal(value);
    }
    void known(const char *name, int &value, const char *)
    {
        if (isFor(name))
            readOrNull(value, -1);
    }
    void index(const char *name, std::uint32_t &value, const char *)
    {
        if (isFor(name))
            readOrNull(value, kNoIndex);
    }
    void kind(const char *name, SourceKind &value, const char *);
    void texts(const char *name, std::vector<std::string> &values, const char *);
    void wholes(const char *name, std::vector<int> &values, const char *)
    {
        if (isFor(name))
            array([&] { return readWhole(values.emplace_back()) || (values.pop_back(), false); });
    }
    void map(const char *name, std::map<std::string, std::string> &values, const char *);

    template <class T> void list(const char *name, std::vector<T> &values, const char *)
    {
        if (isFor(name))
            array([&] { return hasRoom() && readObject(values.emplace_back()); });
    }
    template <class T> void object(const char *name, T &value, const char *)
    {
        if (isFor(name))
            readObject(value);
    }
    template <class T> void table(const char *name, std::vector<T> &rows, const char *)
    {
        if (!isFor(name))
            return;
        rows.clear();
        std::size_t columns = 0;
        m_rowsHaveSize = false;
        members([&] {
            describeColumns(*this, rows);
            columns += m_isTaken ? 1 : 0;
        });
        if (m_json.isTruncated())
            return rows.clear(); // a part of the columns is no row
        if (m_json.isGood() && !rows.empty() && columns != ColumnCounter::of(rows))
            m_json.fail("lacks columns or has some twice", "each column once");
    }

    template <class T> void column(const char *name, std::vector<T> &values, Coding coding, const char *)
    {
        if (!isFor(name))
            return;
        values.clear();
        std::uint64_t before = 0;
        array([&] { return readCell(values.emplace_back(), before, coding) || (values.pop_back(), false); });
    }
    /// Relative to the starts, which may come later: readObject() of the spans makes moments of them.
    void launches(const char *name, const std::vector<Moment> &, std::vector<Moment> &values, const char *)
    {
        if (!isFor(name))
            return;
        values.clear();
        array([&] { return readOrNull(values.emplace_back(), kNoMoment) || (values.pop_back(), false); });
    }
    template <class T, class Value>
    void rows(const char *name, std::vector<T> &values, Value T::*member, Coding coding, const char *)
    {
        if (!isFor(name))
            return;
        const std::size_t most = m_size / (2 * ColumnCounter::of(values)); // each value has two bytes at least
        std::size_t count = 0;
        std::uint64_t before = 0;
        array([&] {
            if (m_rowsHaveSize && count == values.size())
                return m_json.fail("has more values than the columns beside it", std::to_string(values.size()));
            if (!m_rowsHaveSize && count == most)
                return m_json.fail(
                    "has more values than the file has room for in all columns", "columns of one length");
            if (!m_rowsHaveSize)
                values.emplace_back();
            return readCell(values[count++].*member, before, coding);
        });
        if (m_json.isGood() && count != values.size())
            m_json.fail("has " + std::to_string(count) + " values",
                std::to_string(values.size()) + ", as the columns beside it have");
        m_rowsHaveSize = true;
    }

private:
    static constexpr std::int64_t kMostObjects = std::int64_t(1) << 22;
    static constexpr std::int64_t kMostTexts = std::int64_t(1) << 24;

    struct ColumnCounter { // as an Io, of how many columns rows have
        std::size_t count = 0;
        template <class... Ignored> void rows(const Ignored &...) { ++count; }
        template <class T> static std::size_t of(const std::vector<T> &)
        {
            ColumnCounter counter;
            std::vector<T> none;
            describeColumns(counter, none);
            return counter.count;
        }
    };
    struct Step { // of the pointer
        std::string key;
        /// in its array; -1: it is no array
        std::int64_t item = -1;
    };

    bool isFor(const char *name)
    {
        if (m_isTaken || m_key != name)
            return false;
        return m_isTaken = true;
    }
    bool hasRoom()
    {
        return ++m_objects <= kMostObjects
            || m_json.fail("holds more objects than a recording does", "at most 4194304");
    }

    /// Members of an object: `take` reads the value of m_key and says so in m_isTaken.
    template <class Take> bool members(const Take &take)
    {
        if (!m_json.beginObject())
            return false;
        m_path.emplace_back();
        std::string key;
        while (m_json.nextKey(key)) {
            m_path.back().key = key;
            m_key = key;
            m_isTaken = false;
            take();
            if (!m_isTaken)
                skipUnknown();
        }
        if (m_json.isGood() || m_json.isTruncated())
            m_path.pop_back();
        m_isTaken = true; // of the object around it
        return m_json.isGood();
    }
    template <class Take> bool array(const Take &take)
    {
        if (!m_json.beginArray())
            return false;
        Step &own = m_path.back();
        const std::size_t depth = m_path.size();
        own.item = 0;
        for (; m_json.nextItem(); ++m_path[depth - 1].item) {
            if (!take() || !goesOn())
                return false;
        }
        if (m_json.isGood())
            m_path[depth - 1].item = -1;
        return m_json.isGood();
    }
    template <class T> bool readObject(T &value)
    {
        members([&] { describe(*this, value); });
        complete(value);
        return m_json.isGood();
    }
    template <class T> void complete(T &) { }
    void complete(RecordedSpans &spans);
    void complete(SampleSeries &series);

    template <class T> bool readWhole(T &value)
    {
        std::int64_t read = 0;
        if (!m_json.readWhole(read))
            return false;
        if (!std::in_range<T>(read))
            return m_json.fail(std::to_string(read) + " is outside the range of this value");
        value = static_cast<T>(read);
        return true;
    }
    template <class T> bool readOrNull(T &value, T none)
    {
        if (m_json.readNull()) {
            value = none;
            return true;
        }
        return readWhole(value);
    }
    template <class T> bool readCell(T &value, std::uint64_t &before, Coding coding)
    {
        if constexpr (std::same_as<T, double>) {
            return m_json.readReal(value);
        } else if constexpr (std::same_as<T, RecordedWork>) {
            std::uint8_t work = 0;
            if (!readWhole(work))
                return false;
            value = static_cast<RecordedWork>(work);
            return work <= std::uint8_t(RecordedWork::Other)
                || m_json.fail(std::to_string(work) + " is no kind of work", "a whole number from 0 to 7");
        } else if (coding == Coding::Difference) {
            std::int64_t difference = 0;
            if (!readWhole(difference))
                return false;
            value = static_cast<T>(before += static_cast<std::uint64_t>(difference));
            return true;
        } else {
            return coding == Coding::OrNull ? readOrNull(value, static_cast<T>(-1)) : readWhole(value);
        }
    }
    void skipUnknown();
    bool goesOn();

    /// that series have, each once
    SharedTexts m_seriesTexts;

    JsonPull m_json;
    std::size_t m_size;
    const SourceOptions &m_options;
    std::vector<Step> m_path;
    /// whose value comes
    std::string m_key;
    /// and was read
    bool m_isTaken = false;
    /// a column of the table was read
    bool m_rowsHaveSize = false;
    bool m_isCancelled = false;
    std::int64_t m_objects = 0, m_texts = 0, m_unknownCount = 0, m_cutStreams = 0;
    /// values until somebody asks whether to stop
    std::uint32_t m_untilLook = 0;
    std::vector<std::string> m_unknown;
};

} // namespace trainyard::recording_file
