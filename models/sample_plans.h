#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The plans that come with the product. They are looked for beside the source tree, beside the executable, in the
// install prefix, and last among the resources compiled into the program, so that a lone binary has them too. Any
// thread.

#include <QString>
#include <QVector>

namespace trainyard {

struct SamplePlan {
    /// file name without ".trainyard.json"
    QString id;
    /// the plan's name
    QString title;
    /// of the file or the resource
    QString path;
};

/// All samples, in order of their file names.
[[nodiscard]] QVector<SamplePlan> samplePlans();
/// The plan that a first start opens.
inline const QString kFirstSample = QStringLiteral("llama-3-70b-three-regions");
/// Path of a sample by id; empty where there is none.
[[nodiscard]] QString samplePath(const QString &id);

} // namespace trainyard
