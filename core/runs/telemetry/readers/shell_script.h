#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A shell script as far as it can be understood without running it: variables and arrays that it sets, words of its
// commands with those put in, directives of Slurm. Nothing is executed and no file is opened: what a command or the
// environment would tell is unknown, and marked so. Conditions of if, case, && and || are followed where the script
// tells their outcome; of the others each is known by its place, and taken not to hold unless its reader says so.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainyard::readers {

/// Stands in a word where the script does not tell what would; behind it the variable that would, to kUnknownEnd.
inline constexpr char kUnknownPart = '\x01', kUnknownEnd = '\x02';
[[nodiscard]] inline bool isUnknown(std::string_view word)
{
    return word.find(kUnknownPart) != word.npos;
}

/// What stands for the value of that variable; empty: of a command, or of what has no name.
[[nodiscard]] std::string unknownPart(std::string_view variable = {});
/// A word as people write it, "$DATA/gpt2-vocab.json"; "the output of a command" where it is nothing else.
/// shell_loops.cpp
[[nodiscard]] std::string unknownNamed(std::string_view word);
/// Whether a word is an unknown part alone: of a list, any words may stand there.
[[nodiscard]] bool isUnknownAlone(std::string_view word);

/// A condition whose outcome the script does not tell.
struct UnknownCondition {
    /// its byte of the text: what it is told by
    std::size_t at = 0;
    /// from 1
    int line = 0;
    /// "[ "$USE_FP8" = 1 ]"
    std::string text;
};

class ShellScript {
public:
    using Words = std::vector<std::string>;
    using Variables = std::map<std::string, Words, std::less<>>; // one word: no array

    ShellScript() = default;
    /// `holds`: of unknown conditions, the places of those that are to hold.
    explicit ShellScript(std::string_view text, std::vector<std::size_t> holds = {})
        : m_holds(std::move(holds))
    {
        run(text, 0);
    }
    /// As "NAME=value" would.
    void set(std::string name, std::string value) { m_variables[std::move(name)] = { std::move(value) }; }

    [[nodiscard]] const std::vector<Words> &commands() const { return m_commands; }
    [[nodiscard]] const Variables &variables() const { return m_variables; }
    [[nodiscard]] const Words &directives() const { return m_directives; } // words behind #SBATCH
    /// In the order of the text; a hundred at most.
    [[nodiscard]] const std::vector<UnknownCondition> &conditions() const { return m_unknown; }
    [[nodiscard]] bool isCut() const { return m_isCut; } // it ends inside a quote or a list
    /// Variables that the script does not set, and whose own defaults it uses: "${NODES:-4}". Their text, by name.
    [[nodiscard]] const std::map<std::string, std::string> &defaults() const { return m_defaults; }
    [[nodiscard]] const Words &documents() const { return m_documents; } // of "<<EOT", variables not put in
    [[nodiscard]] const Words &others() const { return m_others; } // "x.sh" of "source lib/x.sh"

    /// A text in double quotes, with the variables put in.
    [[nodiscard]] std::string expanded(std::string_view text);
    /// The words of a text that is a command itself, as in bash -c "…"; empty where it is none.
    [[nodiscard]] static Words wordsOf(std::string_view text);

private:
    struct Word {
        Words fields; // of unquoted lists several
        bool isPlain = true; // nothing of it was quoted or put in
    };
    enum class Outcome : std::uint8_t { No, Yes, Unknown };
    struct Tested { // a command of a condition, and what joins the next one to it: '&', '|' or ';'
        Words words;
        char joint = ';';
    };
    struct Branching { // if or case
        bool isLiveAround = true;
        bool isCase = false;
        bool isPatternNext = false; // of a case
        bool isTaken = false; // one of its branches is
        std::string subject = {}; // of a case
    };
    struct Loop { // that is open
        std::size_t body = std::string_view::npos; // npos: gone through once, whatever it says
        std::string_view condition = {}, step = {};
        std::size_t branches = 0; // open around it
        bool isLiveAround = true;
    };
    void run(std::string_view text, int depth);
    // shell_loops.cpp
    bool takeLoop();
    void beginLoop();
    void endLoop();
    bool takeArithmetic();
    void calculate(std::string_view statement);
    [[nodiscard]] Outcome outcomeOfArithmetic(std::string_view text) const;
    [[nodiscard]] std::optional<std::int64_t> wholeOf(std::string_view name) const;
    [[nodiscard]] std::string unknownOf(std::string_view arithmetic) const;
    [[nodiscard]] std::optional<std::string> printed(std::string_view command);
    void takePrintf();
    void runInner();
    // shell_conditions.cpp
    bool takeKeyword(const std::string &word);
    void takePattern();
    void join(char joint);
    void enterBranch(Outcome outcome, std::size_t at, std::string_view text);
    [[nodiscard]] bool decide(Outcome outcome, std::size_t at, std::string_view text);
    [[nodiscard]] Outcome outcomeOfCondition() const;
    [[nodiscard]] static Outcome outcomeOf(const Words &words, Outcome ofOthers);
    [[nodiscard]] static Outcome outcomeOfTest(std::vector<std::string_view> words);
    void endCommand();
    void take(Word word);
    [[nodiscard]] bool isAssignmentPlace() const;
    bool takeAssignment();
    void assign(const std::string &name, Words value, bool isAppended, bool isList = false);
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
    std::map<std::string, std::string> m_defaults;
    std::vector<std::size_t> m_holds;
    std::vector<UnknownCondition> m_unknown;
    std::vector<Branching> m_branches; // that are open
    std::vector<Tested> m_condition; // that is read
    std::size_t m_conditionAt = 0;
    bool m_isCondition = false;
    bool m_isLive = true; // the branch is taken
    Outcome m_chain = Outcome::Yes; // of the commands joined so far
    char m_joint = ';';
    bool m_runs = true; // the command that is read does, as the ones joined to it say
    bool m_isJoined = false; // nothing of it is read yet, and && or || stands before it
    int m_depth = 0;
    std::vector<Loop> m_loops; // that are open
    std::optional<Loop> m_nextLoop; // whose "do" is awaited
    int m_rounds = 0; // of all loops
    char m_listJoint = ' '; // IFS
    Words m_others, m_documents;
    bool m_isCut = false;
    std::size_t m_made = 0; // bytes put in so far
};

} // namespace trainyard::readers
