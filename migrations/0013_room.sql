-- A delivery grows by its provider, two moments and the provider's id while it is sent, and all rows of a page are updated at
-- once, since those made one after another are due one after another. With less room a third of the updates find none on
-- their page, and each of those costs an index entry.
ALTER TABLE deliveries SET (fillfactor = 40);
