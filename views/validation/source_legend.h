#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The marks of the sources that a plot shows, one a line; a click shows one source alone, another all again. GUI
// thread.

#include <QScrollArea>

#include <string>
#include <vector>

class QVBoxLayout;

namespace trainyard {

class SourceLegend : public QScrollArea {
    Q_OBJECT
public:
    struct Entry {
        std::string source;
        /// of its mark
        int index = -1;
        bool operator==(const Entry &) const = default;
    };
    explicit SourceLegend(QWidget *parent = nullptr);

    /// `chosen`: the source that is shown alone; empty: none is.
    void setEntries(const std::vector<Entry> &entries, const std::string &chosen);

signals:
    /// empty: all
    void sourceChosen(const QString &source);

private:
    QWidget *m_content;
    QVBoxLayout *m_lines;
};

} // namespace trainyard
