// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/validation/rows.h"

#include "core/base/printable.h"
#include "core/base/text_file.h"
#include "core/evaluation/report/metric_lookup.h"
#include "core/evaluation/validation/row_reader_internal.h"
#include "core/facts/plan/plan_io.h"

#include <filesystem>
#include <set>

namespace trainyard {

namespace {

const std::vector<std::string> kFileKeys { "format", "version", "source", "title", "url", "note", "role", "base",
    "rows" };
const std::vector<std::string> kRowKeys { "id", "plan", "published", "note", "status", "role", "group" };
const std::vector<std::string> kStatuses { "gated", "guessed" };
const std::vector<std::string> kRoles { "test", "fit" };

RowRole roleAt(const Json &object, const std::string &pointer, Faults &faults)
{
    return choiceAt(object, "role", kRoles, pointer, faults) == 1 ? RowRole::Fit : RowRole::Test;
}

class RowsReader {
public:
    RowsReader(const Json &document, const std::string &fileName, const std::string &baseDir)
        : m_document(document)
        , m_faults(fileName)
        , m_baseDir(baseDir)
    {
    }

    ExpectedAll<RowSet> read()
    {
        checkObject(m_document, "", kFileKeys, m_faults);
        RowSet set;
        set.source = textAt(m_document, "source", "", m_faults, true);
        set.title = textAt(m_document, "title", "", m_faults);
        set.url = textAt(m_document, "url", "", m_faults);
        set.note = textAt(m_document, "note", "", m_faults);
        m_role = roleAt(m_document, "", m_faults);
        readBase();
        const auto rows = m_document.find("rows");
        if (rows == m_document.end() || !rows->is_array())
            m_faults.add("/rows", rows == m_document.end() ? "rows is missing" : "rows is " + detail::brief(*rows),
                "a list of rows");
        else
            for (std::size_t i = 0; i < rows->size(); ++i)
                set.rows.push_back(readRow((*rows)[i], "/rows/" + std::to_string(i)));
        if (m_faults.any())
            return std::unexpected(m_faults.take());
        return set;
    }

private:
    void readBase()
    {
        const auto base = m_document.find("base");
        if (base == m_document.end())
            return;
        if (!base->is_object())
            return m_faults.add(
                "/base", "base is " + detail::brief(*base), "an object: what the plans of all rows share");
        checkPlanKeys(*base, "/base", m_faults);
        m_base = *base;
    }

    ValidationRow readRow(const Json &json, const std::string &pointer)
    {
        ValidationRow row;
        if (!checkObject(json, pointer, kRowKeys, m_faults))
            return row;
        row.id = textAt(json, "id", pointer, m_faults, true);
        if (!row.id.empty() && !m_ids.insert(row.id).second)
            m_faults.add(
                pointer + "/id", "two rows have the id \"" + shortened(row.id) + "\"", "an id of its own for each row");
        row.group = textAt(json, "group", pointer, m_faults);
        row.note = textAt(json, "note", pointer, m_faults);
        row.status =
            choiceAt(json, "status", kStatuses, pointer, m_faults) == 1 ? RowStatus::Guessed : RowStatus::Gated;
        row.role = json.contains("role") ? roleAt(json, pointer, m_faults) : m_role;
        readPublished(json, pointer + "/published", row);
        readPlan(json, pointer + "/plan", row);
        return row;
    }

    void readPublished(const Json &json, const std::string &pointer, ValidationRow &row)
    {
        constexpr const char *right = "an object of metric name -> measured value, with at least one";
        const auto published = json.find("published");
        if (published == json.end())
            return m_faults.add(pointer, "published is missing", right);
        if (!published->is_object() || published->empty())
            return m_faults.add(pointer,
                "published is " + std::string(published->is_object() ? "empty" : detail::brief(*published)), right);
        for (const auto &[metric, value] : published->items()) {
            const std::string place = pointer + "/" + detail::escapedPointerStep(metric);
            if (const auto known = checkMetricName(metric); !known)
                m_faults.add(
                    place, "no metric is called " + shortened(metric), known.error().right, ErrorCode::UnknownName);
            else if (!value.is_number() || !(value.get<double>() > 0))
                m_faults.add(
                    place, metric + " is " + detail::brief(value), "a number above 0, in the unit of the metric");
            else
                row.published.push_back({ metric, value.get<double>() });
        }
    }

    void readPlan(const Json &json, const std::string &pointer, ValidationRow &row)
    {
        Json plan = m_base;
        if (const auto own = json.find("plan"); own == json.end()) {
            if (m_base.empty())
                return m_faults.add(pointer, "plan is missing", "a plan, or what differs from base");
        } else if (!own->is_object()) {
            return m_faults.add(
                pointer, "plan is " + detail::brief(*own), "an object: a plan, or what differs from base");
        } else {
            checkPlanKeys(*own, pointer, m_faults);
            plan.merge_patch(*own);
        }
        auto parsed = parsePlan(plan.dump(-1, ' ', false, Json::error_handler_t::replace), {}, m_baseDir);
        if (parsed) {
            row.plan = std::make_shared<const Plan>(std::move(*parsed));
            return;
        }
        for (Error &error : parsed.error())
            m_faults.add(
                placeOf(error.where, json, pointer), std::move(error.what), std::move(error.right), error.code);
    }

    /// The pointer in this file of a place in the merged plan: in the row where it says so, else in the base.
    std::string placeOf(const std::string &where, const Json &row, const std::string &pointer) const
    {
        const std::string inside = where.substr(std::min(where.find('/'), where.size()));
        const Json::json_pointer place(inside);
        const auto own = row.find("plan");
        const bool isInRow = own != row.end() && own->contains(place);
        return !isInRow && m_base.contains(place) ? "/base" + inside : pointer + inside;
    }

    const Json &m_document;
    Faults m_faults;
    const std::string &m_baseDir;
    RowRole m_role = RowRole::Test;
    Json m_base = Json::object();
    std::set<std::string> m_ids;
};

} // namespace

ExpectedAll<RowSet> parseRows(std::string_view json, const std::string &fileName, const std::string &baseDir)
{
    const auto document = parseHeaded(json, fileName, "trainyard.validation");
    if (!document)
        return std::unexpected(document.error());
    return RowsReader(*document, fileName, baseDir).read();
}

ExpectedAll<RowSet> readRows(const std::string &path, FileKinds kinds)
{
    const auto text = readTextFile(path, "a readable file of validation rows", { .kinds = kinds });
    if (!text)
        return std::unexpected(Errors { text.error() });
    return parseRows(*text, path, std::filesystem::path(path).parent_path().string());
}

const char *toString(RowStatus status)
{
    return status == RowStatus::Guessed ? "guessed" : "gated";
}

const char *toString(RowRole role)
{
    return role == RowRole::Fit ? "fit" : "test";
}

} // namespace trainyard
