"""The heap: what the objects that the program changes hold now.

The IR has no memory: a write takes the old version of a value and gives the new one. A name keeps
referring to an object by the value it was bound to; `now` finds what that object has become. Objects
that never change are not on the heap.

An object is either *known* (its items are values of the front end, and changing it emits nothing) or a
run-time value, which is changed by an equation. Views, rows and items of run-time values are not on
the heap either: they are read again, and written through what they are part of.
"""

from ...loading import later
from .aliases import (
    ONE as ONE,
    Tie as Tie,
    depth_of_items as depth_of_items,
    forget as forget,
    hold_same as hold_same,
    holds_mutable as holds_mutable,
    holds_operands as holds_operands,
    link_holders as link_holders,
    may_be as may_be,
    may_be_one as may_be_one,
    may_be_same as may_be_same,
    objects_of as objects_of,
    share as share,
    share_through as share_through,
    shares as shares,
    stands_for as stands_for,
    ties as ties,
    with_aliases as with_aliases,
)
from .changes import (
    changed as changed,
    changes_inside as changes_inside,
    check_views as check_views,
    hold_items as hold_items,
    loses_lists as loses_lists,
    put as put,
    refill as refill,
    replaced as replaced,
    store as store,
    store_items as store_items,
    update as update,
    whole as whole,
)
from .current import now as now, part_of as part_of, starts as starts
from .homes import (
    are_in_one_place as are_in_one_place,
    can_be_one as can_be_one,
    is_known_container as is_known_container,
)
from .packing import (
    followed_by_name as followed_by_name,
    hold_unknown_of as hold_unknown_of,
    holds_objects as holds_objects,
    materialise as materialise,
    note_copied as note_copied,
    packed as packed,
    refuse_stand_ins as refuse_stand_ins,
    run_time_kind as run_time_kind,
    store_inside as store_inside,
    stored as stored,
)
from .paths import (
    ByIndex as ByIndex,
    is_of_copy as is_of_copy,
    moved as moved,
    path_to as path_to,
    taken_out as taken_out,
    walk_by_index as walk_by_index,
)
from .places import (
    Content as Content,
    Heap as Heap,
    NeedsWhole as NeedsWhole,
    content_in as content_in,
    dropped as dropped,
    identities as identities,
    keep as keep,
    place_of as place_of,
    refuse_given as refuse_given,
)
from .sharings import (
    SharedItems as SharedItems,
    note_copy as note_copy,
    note_joined as note_joined,
    note_sharing as note_sharing,
    note_taken_in as note_taken_in,
    settle_doubts as settle_doubts,
)
from .views import (
    depth_in_whole as depth_in_whole,
    may_be_number as may_be_number,
    view_of as view_of,
)

__getattr__ = later(__name__, "captures", "globals_state", "sharing", "walking")
