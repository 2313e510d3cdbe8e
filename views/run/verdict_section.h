#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The one sentence that a run deserves, what of its time and of its memory explains it, typical causes, and what stands
// in doubt. GUI thread.

#include "core/runs/overlay/verdict.h"

#include <QWidget>

#include <memory>

namespace trainyard {

class SectionTitle;
class SentenceList;
class TextLine;

class VerdictSection : public QWidget {
    Q_OBJECT
public:
    explicit VerdictSection(QWidget *parent = nullptr);

    /// Null: hidden. A verdict that is none shows why.
    void setVerdict(const std::shared_ptr<const Expected<RunVerdict>> &verdict);
    [[nodiscard]] QString headline() const;

    SentenceList *const parts, *const memory, *const causes, *const doubts;

private:
    void addMemory(
        const MemoryVerdict &found, bool isTimed, QStringList &held, QStringList &reasons, QStringList &open);

    TextLine *m_headline, *m_memoryTitle, *m_causesTitle, *m_doubtsTitle;
};

} // namespace trainyard
