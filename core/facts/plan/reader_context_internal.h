#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The place in a document that is being read, and the faults found so far. Private: include it in .cpp files only.

#include "core/facts/plan/plan_json_internal.h"

#include <utility>
#include <variant>
#include <vector>

namespace trainyard::detail {

class Context {
public:
    Context(std::string file, Where style)
        : m_file(std::move(file))
        , m_style(style)
    {
    }

    class Step { // one level down, for as long as it lives
    public:
        template <class S>
        Step(Context &context, S &&step)
            : m_context(context)
        {
            context.m_path.emplace_back(std::forward<S>(step));
        }
        ~Step() { m_context.m_path.pop_back(); }
        Step(const Step &) = delete;
        Step &operator=(const Step &) = delete;

    private:
        Context &m_context;
    };

    std::string where() const
    {
        std::string path;
        for (const auto &step : m_path) {
            const auto *index = std::get_if<std::size_t>(&step);
            if (m_style == Where::Pointer)
                path += "/" + (index ? std::to_string(*index) : escapedPointerStep(std::get<std::string>(step)));
            else if (index)
                path += "[" + std::to_string(*index) + "]";
            else
                path += (path.empty() ? "" : ".") + std::get<std::string>(step);
        }
        return m_file.empty() ? path : m_file + ": " + path;
    }

    void fail(std::string what, std::string right, ErrorCode code = ErrorCode::BadValue)
    {
        if (errors.size() < kMaxErrors)
            errors.push_back({ code, where(), std::move(what), std::move(right) });
    }

    Errors errors;

private:
    std::string m_file;
    Where m_style;
    std::vector<std::variant<std::string, std::size_t>> m_path;
};

} // namespace trainyard::detail
