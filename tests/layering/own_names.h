// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Names that a source keeps to itself: what unnamed namespaces declare (types, aliases, functions, variables,
// templates), and static functions and variables. Reads text, no preprocessor: comments, directives and quotes become
// blanks, and declarations are read one after the other, past what stands in braces of functions and types.

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::tests {

inline bool isNameChar(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// The code with comments, directives and what stands in quotes as blanks; lines and quotes stay where they are.
class BlankedCode {
public:
    explicit BlankedCode(std::string code)
        : m_text(std::move(code))
    {
        bool isLineStart = true;
        while (m_at < m_text.size()) {
            const char c = m_text[m_at], next = m_at + 1 < m_text.size() ? m_text[m_at + 1] : '\0';
            if ((c == '/' && next == '/') || (c == '#' && isLineStart))
                blankLine();
            else if (c == '/' && next == '*')
                blankTo(std::min(m_text.find("*/", m_at + 2), m_text.size() - 2) + 2);
            else if (c == '"' && m_at > 0 && m_text[m_at - 1] == 'R')
                blankRawString();
            else if (c == '"' || (c == '\'' && !isInNumber()))
                blankQuoted(c);
            else
                ++m_at;
            isLineStart = c == '\n' || (isLineStart && std::isspace(static_cast<unsigned char>(c)));
        }
    }
    [[nodiscard]] const std::string &text() const { return m_text; }

private:
    void blankTo(std::size_t end)
    {
        for (end = std::min(end, m_text.size()); m_at < end; ++m_at)
            if (m_text[m_at] != '\n')
                m_text[m_at] = ' ';
    }
    /// A line that ends with a backslash goes on.
    void blankLine()
    {
        std::size_t end = m_text.find('\n', m_at);
        while (end != std::string::npos && end > 0 && m_text[end - 1] == '\\')
            end = m_text.find('\n', end + 1);
        blankTo(end);
    }
    void blankQuoted(char quote)
    {
        std::size_t end = ++m_at;
        while (end < m_text.size() && m_text[end] != quote && m_text[end] != '\n')
            end += m_text[end] == '\\' ? 2 : 1;
        blankTo(end);
        ++m_at;
    }
    void blankRawString()
    {
        const std::size_t open = std::min(m_text.find('(', m_at), m_text.size());
        const std::string close = ')' + m_text.substr(m_at + 1, open - m_at - 1) + '"';
        const std::size_t end = m_text.find(close, open);
        ++m_at;
        blankTo(end == std::string::npos ? end : end + close.size() - 1);
        ++m_at;
    }
    /// The quote of 1'000, in a word that begins with a digit.
    [[nodiscard]] bool isInNumber() const
    {
        std::size_t begin = m_at;
        while (begin > 0 && (isNameChar(m_text[begin - 1]) || m_text[begin - 1] == '\''))
            --begin;
        return begin < m_at && std::isdigit(static_cast<unsigned char>(m_text[begin]));
    }

    std::string m_text;
    std::size_t m_at = 0;
};

class OwnNames {
public:
    /// Each with the line that declares it first.
    static std::map<std::string, int> of(const std::string &source)
    {
        OwnNames reader(source);
        while (!reader.isEnd()) {
            reader.scope(false);
            ++reader.m_at; // a brace too many
        }
        return reader.m_names;
    }

private:
    struct Token {
        std::string text; // a word, a number, "::", "->", or one character
        int line = 1;
    };

    explicit OwnNames(const std::string &source)
    {
        const BlankedCode blanked(source);
        const std::string &code = blanked.text();
        int line = 1;
        for (std::size_t at = 0; at < code.size();) {
            std::size_t end = at + 1;
            if (isNameChar(code[at])) {
                while (end < code.size() && (isNameChar(code[end]) || code[end] == '\''))
                    ++end;
            } else if (code.compare(at, 2, "::") == 0 || code.compare(at, 2, "->") == 0) {
                end = at + 2;
            }
            line += code[at] == '\n' ? 1 : 0;
            if (!std::isspace(static_cast<unsigned char>(code[at])))
                m_tokens.push_back({ code.substr(at, end - at), line });
            at = end;
        }
    }

    [[nodiscard]] const std::string &token(std::size_t ahead = 0) const
    {
        static const std::string kNone;
        return m_at + ahead < m_tokens.size() ? m_tokens[m_at + ahead].text : kNone;
    }
    [[nodiscard]] const std::string &before() const { return m_tokens[m_at - 1].text; }
    [[nodiscard]] bool isEnd() const { return m_at >= m_tokens.size(); }
    bool takes(std::string_view text)
    {
        const bool isThere = token() == text;
        m_at += isThere ? 1 : 0;
        return isThere;
    }
    /// A word that may be a name: no number, and no keyword of types and what stands before them.
    [[nodiscard]] static bool isName(const std::string &text)
    {
        static const std::set<std::string_view> keywords { "alignas", "auto", "bool", "char", "class", "const",
            "consteval", "constexpr", "constinit", "decltype", "default", "delete", "double", "enum", "explicit",
            "extern", "final", "float", "inline", "int", "long", "noexcept", "operator", "requires", "short", "signed",
            "sizeof", "static", "static_assert", "struct", "template", "thread_local", "typename", "union", "unsigned",
            "using", "void", "volatile" };
        return !text.empty() && isNameChar(text[0]) && !std::isdigit(static_cast<unsigned char>(text[0]))
            && !keywords.contains(text);
    }

    void declare(std::size_t at)
    {
        const bool isQualified = at > 0 && at < m_tokens.size() && m_tokens[at - 1].text == "::"; // of a class
        if (m_isOwn && at < m_tokens.size() && !isQualified && isName(m_tokens[at].text))
            m_names.emplace(m_tokens[at].text, m_tokens[at].line);
    }
    /// The name at `at`, or before its [3]. It is no first word: a type stands there.
    void declareVariable(std::size_t at, std::size_t begin)
    {
        while (at > begin && at < m_tokens.size() && m_tokens[at].text == "]")
            while (at > begin && m_tokens[at--].text != "[") { }
        if (at > begin)
            declare(at);
    }

    /// From an opening bracket of any kind to behind its partner.
    void passBrackets()
    {
        int depth = 0;
        do {
            const std::string &text = token();
            depth += text == "(" || text == "[" || text == "{" ? 1 : 0;
            depth -= text == ")" || text == "]" || text == "}" ? 1 : 0;
            ++m_at;
        } while (depth > 0 && !isEnd());
    }
    /// Arguments of a template, where a ">" ends them before anything that they cannot hold; else the character alone.
    void passAngles()
    {
        const std::size_t begin = m_at;
        for (int depth = 0; !isEnd();) {
            const std::string &text = token();
            if (text == "(" || text == "[" || text == "{") {
                passBrackets();
                continue;
            }
            if (text == ";" || text == "}" || text == ")" || text == "]")
                break;
            depth += text == "<" ? 1 : text == ">" ? -1 : 0;
            ++m_at;
            if (depth == 0)
                return;
        }
        m_at = begin + 1;
    }
    /// Brackets, arguments of a template, or one token.
    void passOne()
    {
        if (token() == "(" || token() == "[" || token() == "{")
            passBrackets();
        else if (token() == "<" && m_at > 0 && isName(before()))
            passAngles();
        else
            ++m_at;
    }
    void passStatement()
    {
        while (!isEnd() && token() != ";" && token() != "}")
            passOne();
        takes(";");
    }

    /// Up to the brace that ends it. `isUnnamed`: what it declares is the file's own.
    void scope(bool isUnnamed)
    {
        while (!isEnd() && token() != "}") {
            m_isOwn = isUnnamed;
            if (token() == "namespace" || (token() == "inline" && token(1) == "namespace")) {
                space();
            } else if (token() == "extern" && token(1) == "\"" && token(3) == "{") {
                m_at += 4;
                scope(isUnnamed);
                takes("}");
            } else if (takes("using")) {
                if (token(1) == "=")
                    declare(m_at);
                passStatement();
            } else if (takes("typedef")) {
                passStatement();
                declare(m_at - 2);
            } else {
                declaration();
            }
        }
    }
    void space()
    {
        while (!isEnd() && token() != "{" && token() != ";" && token() != "=")
            ++m_at;
        if (token() != "{")
            return passStatement(); // another name for one
        const bool isUnnamed = before() == "namespace";
        ++m_at;
        scope(isUnnamed);
        takes("}");
    }
    /// Functions, variables and types, several of one kind: up to the semicolon, or the brace that ends a function.
    void declaration()
    {
        const std::size_t begin = m_at;
        while (!isEnd() && token() != "}") {
            const std::string text = token();
            if (text == ";" || text == "," || text == "=" || text == "{") {
                declareVariable(m_at - 1, begin);
                return text == ";" ? ++m_at, void() : values(begin);
            }
            if (text == "(" && (token(1) == "*" || token(1) == "&")) { // a pointer to a function
                while (!isEnd() && token() != ")" && !isName(token()))
                    ++m_at;
                declare(m_at);
                return passStatement();
            }
            if (text == "(" && m_at == begin + 1 && isName(before())) {
                passBrackets(); // a macro, or a guide to a template's arguments
                return token() == "->" ? passStatement() : void(takes(";"));
            }
            if (text == "(" && isName(before())) {
                declare(m_at - 1);
                return function(begin);
            }
            if (text == "operator") { // overloads by the types that it is of
                while (!isEnd() && token() != "(")
                    ++m_at;
                m_at += token(1) == ")" ? 2 : 0;
                return function(begin);
            }
            if (text == "template" && token(1) == "<") {
                ++m_at;
                passAngles();
            } else if (text == "requires") {
                constraint();
            } else if (text == "struct" || text == "class" || text == "union" || text == "enum") {
                ++m_at;
                type();
            } else {
                m_isOwn = m_isOwn || text == "static";
                passOne();
            }
        }
    }
    void constraint()
    {
        while (takes("requires")) { }
        if (token() == "(")
            passBrackets();
        if (token() == "{")
            passBrackets();
    }
    /// Behind its keyword. A type that is only mentioned is passed up to what it stands for.
    void type()
    {
        const std::size_t begin = m_at;
        while (token() == "class" || token() == "struct" || token() == "[" || takes("alignas")) {
            if (token() == "[" || token() == "(")
                passBrackets();
            else
                ++m_at;
        }
        const std::size_t name = m_at;
        while (token() == "::" || (token() == "<" && m_at > name)
            || (isName(token()) && (m_at == name || before() == "::")))
            passOne();
        takes("final");
        if (token() != "{" && token() != ":" && token() != ";") {
            m_at = begin;
            return;
        }
        declare(name);
        while (!isEnd() && token() != "{" && token() != ";") // its bases, or the type of its values
            ++m_at;
        if (token() == "{")
            passBrackets();
    }
    /// From the parenthesis behind a function's name, or a variable's.
    void function(std::size_t begin)
    {
        passBrackets();
        while (!isEnd() && token() != "}") {
            if (takes(";"))
                return;
            if (token() == "{") {
                passBrackets();
                takes(";");
                return;
            }
            if (takes(":")) { // what a constructor begins with
                do {
                    while (!isEnd() && token() != "(" && token() != "{")
                        ++m_at;
                    passBrackets();
                } while (takes(","));
            } else if (token() == ",") { // a variable's after all
                return values(begin);
            } else {
                passOne();
            }
        }
    }
    /// What a variable begins with, and the variables behind it.
    void values(std::size_t begin)
    {
        while (!isEnd() && token() != "}" && !takes(";")) {
            if (!takes(",")) {
                passOne();
                continue;
            }
            while (token() == "*" || token() == "&" || token() == "const")
                ++m_at;
            if (token(1) == "=" || token(1) == "{" || token(1) == "," || token(1) == ";" || token(1) == "["
                || token(1) == "(")
                declareVariable(m_at, begin);
        }
    }

    std::vector<Token> m_tokens;
    std::size_t m_at = 0;
    bool m_isOwn = false; // what is being declared is the file's own
    std::map<std::string, int> m_names;
};

} // namespace trainyard::tests
