#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A shell script as far as it can be understood without running it: variables and arrays that it sets, words of its
// commands with those put in, directives of Slurm. Nothing is executed and no file is opened: what a command or the
// environment would tell is unknown, and marked so. Where it decides something, a variable keeps its first value.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::readers {

/// Stands in a word where the script does not tell what would.
inline constexpr char kUnknownPart = '\x01';
[[nodiscard]] inline bool isUnknown(std::string_view word)
{
    return word.find(kUnknownPart) != word.npos;
}

class ShellScript {
public:
    using Words = std::vector<std::string>;
    using Variables = std::map<std::string, Words, std::less<>>; // one word: no array

    ShellScript() = default;
    explicit ShellScript(std::string_view text) { run(text, 0); }
    /// As "NAME=value" would.
    void set(std::string name, std::string value) { m_variables[std::move(name)] = { std::move(value) }; }

    [[nodiscard]] const std::vector<Words> &commands() const { return m_commands; }
    [[nodiscard]] const Variables &variables() const { return m_variables; }
    [[nodiscard]] const Words &directives() const { return m_directives; } // words behind #SBATCH
    [[nodiscard]] const std::vector<std::string> &keptFirst() const { return m_keptFirst; } // by name
    [[nodiscard]] bool isCut() const { return m_isCut; } // it ends inside a quote or a list
    [[nodiscard]] bool readsOthers() const { return m_readsOthers; } // "source x.sh"

    /// A text in double quotes, with the variables put in.
    [[nodiscard]] std::string expanded(std::string_view text);
    /// The words of a text that is a command itself, as in bash -c "…"; empty where it is none.
    [[nodiscard]] static Words wordsOf(std::string_view text);

private:
    struct Word {
        Words fields; // of unquoted lists several
        bool isPlain = true; // nothing of it was quoted or put in
    };
    void run(std::string_view text, int depth);
    void endCommand();
    void take(Word word);
    [[nodiscard]] bool isAssignmentPlace() const;
    bool takeAssignment();
    void assign(const std::string &name, Words value, bool isAppended);
    Words list();
    Word word(std::string_view ends);
    void quoted(Word &word);
    void expansion(Word &word, bool isQuoted);
    void braced(Word &word, bool isQuoted);
    void skipBracket(char open, char close);
    void putIn(Word &word, const Words &value, bool isQuoted, bool isList);
    void add(Word &word, std::string_view text);
    void skipHereDocuments();
    void comment();
    [[nodiscard]] std::string arithmetic(std::string_view text) const;
    [[nodiscard]] char peek(std::size_t ahead = 0) const
    {
        return m_at + ahead < m_text.size() ? m_text[m_at + ahead] : '\0';
    }
    [[nodiscard]] bool isEnd() const { return m_at >= m_text.size(); }

    std::string_view m_text;
    std::size_t m_at = 0;
    std::vector<Words> m_commands;
    Words m_words; // of the command that is read
    Variables m_variables;
    Words m_directives, m_hereEnds;
    std::vector<std::string> m_keptFirst;
    int m_conditions = 0; // if and case that are open
    int m_depth = 0;
    bool m_isAfterAnd = false; // the command runs only if the one before did
    bool m_isCut = false, m_readsOthers = false;
    std::size_t m_made = 0; // bytes put in so far
};

} // namespace trainyard::readers
