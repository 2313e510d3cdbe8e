// SPDX-License-Identifier: GPL-3.0-or-later
// Regular expressions as scripts write them: literals, ., [classes], \d \w \s and their opposites, ^ $ \b, groups,
// alternatives, * + ? and {m,n}, each also with ? behind it. No look-around and no references back.
#include "core/runs/telemetry/line_pattern_internal.h"

#include <algorithm>
#include <cctype>

namespace trainyard {

namespace {

using Step = LinePattern::Step;
using Kind = Step::Kind;

constexpr std::size_t kLongestPattern = 2000, kMostSteps = 20'000;
constexpr int kMostRepeats = 200, kMostDepth = 30;
constexpr const char *kRightPattern = "a regular expression with groups (?<step>…), (?<time>…), (?<tokens>…), "
                                      "(?<tokens_per_gpu>…), (?<loss>…) or (?<memory>…)";

std::bitset<256> setOf(char letter)
{
    std::bitset<256> set;
    for (int c = 0; c < 256; ++c)
        if ((letter == 'd' && std::isdigit(c)) || (letter == 'w' && (std::isalnum(c) || c == '_'))
            || (letter == 's' && std::isspace(c)))
            set.set(std::size_t(c));
    return set;
}

class Compiler {
public:
    explicit Compiler(std::string_view text)
        : m_text(text)
    {
    }

    Expected<CompiledPattern> compile()
    {
        if (m_text.size() > kLongestPattern)
            fail("is longer than " + std::to_string(kLongestPattern) + " bytes");
        alternatives();
        if (m_error.empty() && m_at < m_text.size())
            fail("has a ) without its (");
        step(Kind::Match);
        const bool tells = std::ranges::any_of(
            m_made.groups, [](const LinePattern::NamedGroup &one) { return one.group != LineGroup::Step; });
        if (m_error.empty() && !tells)
            fail("has no group that tells a figure");
        if (!m_error.empty())
            return std::unexpected(Error { ErrorCode::BadSyntax, "line pattern", m_error, kRightPattern });
        return std::move(m_made);
    }

private:
    void fail(const std::string &what)
    {
        if (m_error.empty())
            m_error = "at byte " + std::to_string(std::min(m_at, m_text.size()) + 1) + ": " + what;
        m_at = m_text.size();
    }
    [[nodiscard]] bool isEnd() const { return m_at >= m_text.size(); }
    [[nodiscard]] char peek() const { return isEnd() ? '\0' : m_text[m_at]; }
    bool takes(std::string_view text)
    {
        if (!m_text.substr(std::min(m_at, m_text.size())).starts_with(text))
            return false;
        m_at += text.size();
        return true;
    }
    int step(Kind kind, int first = 0, int other = 0)
    {
        if (m_made.steps.size() >= kMostSteps) {
            fail("makes too many steps");
            return 0;
        }
        m_made.steps.push_back({ kind, first, other });
        return int(m_made.steps.size()) - 1;
    }
    [[nodiscard]] int here() const { return int(m_made.steps.size()); }

    void alternatives()
    {
        if (++m_depth > kMostDepth)
            fail("has too many groups in groups");
        const int begin = here();
        sequence();
        while (m_error.empty() && takes("|")) {
            // split in front of what is there; all places behind it move by one
            insert(begin, { Kind::Split, begin + 1, 0 });
            const int jump = step(Kind::Jump);
            m_made.steps[std::size_t(begin)].other = here();
            const int second = here();
            sequenceOrRest(second);
            m_made.steps[std::size_t(jump)].first = here();
        }
        --m_depth;
    }

    /// What follows a |, with all alternatives behind it.
    void sequenceOrRest(int begin)
    {
        sequence();
        while (m_error.empty() && peek() == '|') {
            takes("|");
            insert(begin, { Kind::Split, begin + 1, 0 });
            const int jump = step(Kind::Jump);
            m_made.steps[std::size_t(begin)].other = here();
            sequenceOrRest(here());
            m_made.steps[std::size_t(jump)].first = here();
        }
    }

    void insert(int at, Step made)
    {
        m_made.steps.insert(m_made.steps.begin() + at, made);
        // what stands before it means the new step, what stands behind it the one that was there
        for (int i = 0; i < here(); ++i) {
            Step &one = m_made.steps[std::size_t(i)];
            const auto moved = [&](int to) { return to + ((i < at ? to > at : to >= at) ? 1 : 0); };
            if (i != at && (one.kind == Kind::Split || one.kind == Kind::Jump))
                one.first = moved(one.first);
            if (i != at && one.kind == Kind::Split)
                one.other = moved(one.other);
        }
        if (m_made.steps.size() > kMostSteps)
            fail("makes too many steps");
    }

    void sequence()
    {
        while (m_error.empty() && !isEnd() && peek() != '|' && peek() != ')') {
            const int begin = here();
            const std::size_t text = m_at;
            atom();
            repetition(begin, text);
        }
    }

    void atom()
    {
        if (++m_atoms > kMostSteps) // empty groups that repeat each other make no steps
            fail("repeats too much");
        else if (takes("(")) {
            group();
        } else if (takes("[")) {
            bytes(bracket());
        } else if (takes(".")) {
            bytes(~std::bitset<256>());
        } else if (takes("^")) {
            step(Kind::Begin);
        } else if (takes("$")) {
            step(Kind::End);
        } else if (takes("\\b")) {
            step(Kind::WordEdge);
        } else if (takes("\\")) {
            bytes(escaped());
        } else if (std::string_view("*+?{").find(peek()) != std::string_view::npos) {
            fail("repeats nothing");
        } else {
            bytes(std::bitset<256>().set(static_cast<unsigned char>(m_text[m_at++])));
        }
    }

    void bytes(const std::bitset<256> &set)
    {
        step(Kind::OneOf, int(m_made.sets.size()));
        m_made.sets.push_back(set);
    }

    std::bitset<256> escaped()
    {
        if (isEnd()) {
            fail("ends with a backslash");
            return {};
        }
        const char c = m_text[m_at++];
        const char small = char(std::tolower(static_cast<unsigned char>(c)));
        if (small == 'd' || small == 'w' || small == 's')
            return c == small ? setOf(small) : ~setOf(small);
        if (c == 't')
            return std::bitset<256>().set('\t');
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            fail(std::string("has \\") + c + ", which is not supported");
        return std::bitset<256>().set(static_cast<unsigned char>(c));
    }

    std::bitset<256> bracket()
    {
        std::bitset<256> set;
        const bool isOther = takes("^");
        for (bool isFirst = true; isFirst || peek() != ']'; isFirst = false) {
            if (isEnd()) {
                fail("has a [ without its ]");
                return {};
            }
            if (takes("\\")) {
                set |= escaped();
                continue;
            }
            const auto low = static_cast<unsigned char>(m_text[m_at++]);
            auto high = low;
            if (peek() == '-' && m_at + 1 < m_text.size() && m_text[m_at + 1] != ']') {
                high = static_cast<unsigned char>(m_text[m_at + 1]);
                m_at += 2;
            }
            for (int c = low; c <= high; ++c)
                set.set(std::size_t(c));
        }
        takes("]");
        return isOther ? ~set : set;
    }

    void group()
    {
        int named = -1;
        if (takes("?P<") || takes("?<"))
            named = nameGroup();
        else if (takes("?") && !takes(":"))
            fail("looks around or sets options, which is not supported");
        if (named >= 0)
            step(Kind::Save, 2 * named);
        alternatives();
        if (m_error.empty() && !takes(")"))
            fail("has a ( without its )");
        if (named >= 0)
            step(Kind::Save, 2 * named + 1);
    }

    int nameGroup()
    {
        const std::size_t end = m_text.find('>', m_at);
        std::string name(m_text.substr(m_at, end == m_text.npos ? 0 : end - m_at));
        LinePattern::NamedGroup made;
        for (std::size_t i = 0; i < kLineGroups.size(); ++i) {
            const std::string_view known = kLineGroups[i];
            made.group = static_cast<LineGroup>(i);
            const bool isWith = name.size() > known.size() && name.starts_with(known) && name[known.size()] == '_';
            const auto factor = isWith ? unitFactor(made.group, name.substr(known.size() + 1)) : std::nullopt;
            if (name != known && !factor)
                continue;
            made.factor = factor.value_or(0);
            for (const LinePattern::NamedGroup &other : m_made.groups)
                if (other.group == made.group)
                    fail("names " + name + " twice");
            m_at = end + 1;
            m_made.groups.push_back(made);
            return int(m_made.groups.size()) - 1;
        }
        fail("names a group " + name.substr(0, 40));
        return -1;
    }

    /// *, +, ?, {m}, {m,} and {m,n} behind what begins at `begin`, whose text begins at `text`.
    void repetition(int begin, std::size_t text)
    {
        int low = 1, high = 1;
        const std::size_t end = m_at;
        if (takes("*")) {
            low = 0;
            high = -1;
        } else if (takes("+")) {
            high = -1;
        } else if (takes("?")) {
            low = 0;
        } else if (peek() != '{' || !counts(low, high)) {
            return;
        }
        const bool isLazy = takes("?");
        const std::size_t behind = m_at;
        if (m_made.groups.size() != groupsBefore(begin) && (high < 0 || high > 1))
            return fail("repeats a group with a name");
        if (low == 0 && high == 1)
            return optional(begin, isLazy);
        // x{2,4} is x x x? x?, and x+ is x x*
        const auto again = [&] {
            m_at = text;
            const int start = here();
            atom();
            if (m_at != end && m_error.empty())
                fail("cannot be repeated");
            m_at = behind;
            return start;
        };
        if (low == 0 && high < 0)
            return star(begin, isLazy);
        if (low == 0) {
            optional(begin, isLazy);
            low = 1;
        }
        for (int i = 1; i < low && m_error.empty(); ++i)
            again();
        if (high < 0 && m_error.empty())
            star(again(), isLazy);
        for (int i = low; i < high && m_error.empty(); ++i)
            optional(again(), isLazy);
    }

    [[nodiscard]] std::size_t groupsBefore(int begin) const
    {
        std::size_t saves = 0;
        for (int i = 0; i < begin; ++i)
            saves += m_made.steps[std::size_t(i)].kind == Kind::Save && m_made.steps[std::size_t(i)].first % 2 == 0;
        return saves;
    }

    bool counts(int &low, int &high)
    {
        const std::size_t begin = m_at;
        takes("{");
        const auto whole = [&](int other) {
            int value = -1;
            while (!isEnd() && std::isdigit(static_cast<unsigned char>(peek())) != 0 && value < 10000)
                value = std::max(0, value) * 10 + (m_text[m_at++] - '0');
            return value < 0 ? other : value;
        };
        low = whole(-1);
        high = takes(",") ? whole(-1) : low;
        if (low < 0 || !takes("}") || (high >= 0 && high < low) || std::max(low, high) > kMostRepeats || high == 0) {
            m_at = begin;
            fail("has a { that counts nothing, or too much");
            return false;
        }
        return true;
    }

    void optional(int begin, bool isLazy)
    {
        insert(begin, { Kind::Split, 0, 0 });
        Step &split = m_made.steps[std::size_t(begin)];
        split.first = isLazy ? here() : begin + 1;
        split.other = isLazy ? begin + 1 : here();
    }

    void star(int begin, bool isLazy)
    {
        insert(begin, { Kind::Split, 0, 0 });
        step(Kind::Jump, begin);
        Step &split = m_made.steps[std::size_t(begin)];
        split.first = isLazy ? here() : begin + 1;
        split.other = isLazy ? begin + 1 : here();
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    int m_depth = 0;
    std::size_t m_atoms = 0; // read, again where they repeat
    std::string m_error;
    CompiledPattern m_made;
};

} // namespace

Expected<CompiledPattern> compiledPattern(std::string_view text)
{
    return Compiler(text).compile();
}

} // namespace trainyard
