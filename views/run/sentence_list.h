#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Sentences below each other, wrapped; none: nothing is in sight. GUI thread.

#include "views/parts/text_line.h"

#include <QStringList>

#include <vector>

namespace trainyard {

class SentenceList : public QWidget {
    Q_OBJECT
public:
    explicit SentenceList(Ink ink, int size = -1, QWidget *parent = nullptr);
    void setSentences(const QStringList &sentences);
    [[nodiscard]] QStringList sentences() const { return m_sentences; }

private:
    Ink m_ink;
    /// of the font, to the base
    int m_size;
    QStringList m_sentences;
    /// hidden ones wait for more sentences
    std::vector<TextLine *> m_lines;
};

} // namespace trainyard
