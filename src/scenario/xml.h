// SPDX-License-Identifier: GPL-3.0-or-later
// Scenarios of the LFI article, in XML: what its reader and its trigger classes share.
#ifndef ORDEAL_SCENARIO_XML_H
#define ORDEAL_SCENARIO_XML_H

#include "scenario/model.h"
#include "scenario/xml-tree.h"

// Appends what a <trigger> says as a native expression. `label` keeps the state of one plug-in
// instance apart from others.
_must_check_ struct error *xml_trigger_expression(const struct source *file,
                                                  const struct xml_node *trigger, const char *label,
                                                  struct buffer *expression);
// " (did you mean 'x'?)" if a class name is close to a stock one, otherwise "".
const char *xml_class_suggestion(const char *class_, char storage[SUGGESTION_SIZE]);

#endif
