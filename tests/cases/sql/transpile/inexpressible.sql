-- LIKE with an escape that is NULL or computed
SELECT d LIKE 'a%' ESCAPE NULL FROM n
-- a text used as a number
SELECT sum(d) FROM n
SELECT d + 1 FROM n
-- a comparison of numbers with texts
SELECT a FROM n WHERE a > d
-- values of several types in one place
SELECT CASE WHEN a > 1 THEN 'x' ELSE 1 END FROM n
SELECT a FROM n UNION SELECT d FROM n
-- the text of a number with a point
SELECT c || '' FROM n
-- a window function over groups
SELECT sum(count(*)) OVER () FROM n
-- collation NOCASE
SELECT a FROM n WHERE d = 'x' COLLATE NOCASE
-- a recursive query whose rows change their types
WITH RECURSIVE t(k) AS (SELECT 1 UNION ALL SELECT k + 0.5 FROM t WHERE k < 3) SELECT k FROM t
-- untyped column
CREATE TABLE u(a, b INTEGER)
-- after: untyped column
SELECT a FROM u
INSERT INTO u VALUES (1, 2)
-- a value of another type than its column's (affinity)
INSERT INTO m(x) VALUES ('text')
-- after: a value of another type than its column's (affinity)
SELECT x FROM m
-- trigger
CREATE TRIGGER t AFTER INSERT ON n BEGIN DELETE FROM m; END
-- after: trigger
INSERT INTO n(a) VALUES (99)
-- PRAGMA
PRAGMA foreign_keys
