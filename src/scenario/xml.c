#include "scenario/rule.h"
struct error *scenario_add_xml(struct scenario *scenario, const char *name, const char *text,
                               size_t size)
{
    return error_new("%s: XML scenarios are not built in yet", name);
}
