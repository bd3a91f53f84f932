"""The heap: what the objects that the program changes hold now.

The IR has no memory: a write takes the old version of a value and gives the new one. A name keeps
referring to an object by the value it was bound to; `now` finds what that object has become. Objects
that never change are not on the heap.

An object is either *known* (its items are values of the front end, and changing it emits nothing) or a
run-time value, which is changed by an equation. Views, rows and items of run-time values are not on
the heap either: they are read again, and written through what they are part of.
"""

from ...loading import later
from .aliases import ONE as ONE
from .aliases import Tie as Tie
from .aliases import depth_of_items as depth_of_items
from .aliases import forget as forget
from .aliases import hold_same as hold_same
from .aliases import holds_mutable as holds_mutable
from .aliases import holds_operands as holds_operands
from .aliases import link_holders as link_holders
from .aliases import may_be as may_be
from .aliases import may_be_one as may_be_one
from .aliases import may_be_same as may_be_same
from .aliases import objects_of as objects_of
from .aliases import share as share
from .aliases import share_through as share_through
from .aliases import shares as shares
from .aliases import stands_for as stands_for
from .aliases import ties as ties
from .aliases import with_aliases as with_aliases
from .changes import ByIndex as ByIndex
from .changes import changed as changed
from .changes import changes_inside as changes_inside
from .changes import check_views as check_views
from .changes import hold_items as hold_items
from .changes import is_of_copy as is_of_copy
from .changes import loses_lists as loses_lists
from .changes import moved as moved
from .changes import path_to as path_to
from .changes import put as put
from .changes import refill as refill
from .changes import replaced as replaced
from .changes import store as store
from .changes import store_items as store_items
from .changes import taken_out as taken_out
from .changes import update as update
from .changes import walk_by_index as walk_by_index
from .changes import whole as whole
from .current import now as now
from .current import part_of as part_of
from .current import starts as starts
from .homes import are_in_one_place as are_in_one_place
from .packing import followed_by_name as followed_by_name
from .packing import hold_unknown_of as hold_unknown_of
from .packing import holds_objects as holds_objects
from .packing import keep as keep
from .packing import materialise as materialise
from .packing import note_copied as note_copied
from .packing import packed as packed
from .packing import refuse_stand_ins as refuse_stand_ins
from .packing import store_inside as store_inside
from .packing import stored as stored
from .places import Content as Content
from .places import Heap as Heap
from .places import NeedsWhole as NeedsWhole
from .places import content_in as content_in
from .places import dropped as dropped
from .places import identities as identities
from .places import place_of as place_of
from .places import refuse_given as refuse_given
from .sharings import SharedItems as SharedItems
from .sharings import can_be_one as can_be_one
from .sharings import is_known_container as is_known_container
from .sharings import note_copy as note_copy
from .sharings import note_joined as note_joined
from .sharings import note_sharing as note_sharing
from .sharings import note_taken_in as note_taken_in
from .sharings import settle_doubts as settle_doubts
from .views import depth_in_whole as depth_in_whole
from .views import may_be_number as may_be_number
from .views import view_of as view_of

__getattr__ = later(__name__, frozenset(("captures", "globals_state", "sharing", "walking")))
