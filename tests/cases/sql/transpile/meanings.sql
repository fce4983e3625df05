SELECT 7 / 2, -7 / 2, 7 / -2, 7 % 3, -7 % 3, 7 % -3
SELECT 7 / 2.0, 1 / 0, 1.5 / 0, 5 % 0, b / a, b / c, a / b FROM n
SELECT + + 5, - - 3, - + - 4, - ( - a ), + b FROM n
SELECT 20 / - - 96 + CAST ( 90 AS INTEGER )
SELECT CAST(2.7 AS INTEGER), CAST(-2.7 AS INTEGER), CAST(2.5 AS SIGNED), CAST(c AS INTEGER), CAST(a AS REAL) FROM n
SELECT CAST('12abc' AS INTEGER), CAST('3.9' AS INTEGER), CAST('x' AS REAL), CAST(NULL AS TEXT), CAST(15 AS TEXT)
SELECT 4611686018427387904 * 1, 100000 * 100000, 2147483647 + 1, -2147483648 - 1
SELECT a > 2, b = 10, NOT a, NOT b, a IN (1, 2), b IS NULL, c BETWEEN 0 AND 3 FROM n
SELECT (a > 2) + (b = 10) * 3, (a = 1) = (b = 10), (a > 2) AND b, b OR NULL FROM n
SELECT a FROM n WHERE b
SELECT a FROM n WHERE NOT b
SELECT a FROM n WHERE b AND c OR NOT f
SELECT a FROM n WHERE NOT ( NOT b >= NULL )
SELECT a FROM n WHERE - a
SELECT CASE WHEN b THEN 'yes' WHEN c THEN 'c' END, CASE b WHEN 10 THEN 1 WHEN NULL THEN 2 ELSE c END FROM n
SELECT CASE WHEN 0 THEN 1 END, CASE NULL WHEN NULL THEN 1 ELSE 2 END
SELECT 1 IN (), NULL IN (), 1 NOT IN (), a IN () FROM n
SELECT a FROM n WHERE a IN one
SELECT a NOT IN one FROM n
SELECT a FROM n WHERE a IN (SELECT x FROM m)
SELECT a FROM n WHERE a NOT IN (SELECT x FROM m WHERE x IS NOT NULL)
SELECT a, b IN (SELECT y FROM m), 10 IN (SELECT b FROM n) FROM n
SELECT NULL IN (SELECT x FROM empty), 1 NOT IN (SELECT x FROM empty)
SELECT b IS 10, b IS NOT 10, NULL IS NULL, a IS b, b IS NOT c, 1 IS 1, d IS 'Ab' FROM n
SELECT b ISNULL, b NOTNULL, b NOT NULL FROM n
SELECT 1 = '1', a = '1', a < 'x', 'x' > a, d = 5, e = 5, a IN ('1', 'x', 3), a BETWEEN '1' AND 'z' FROM n
SELECT NULLIF(a, 1), NULLIF(1, 1), NULLIF(b, NULL), NULLIF(NULL, 5), NULLIF(c, 1), NULLIF(a > 1, 1) FROM n
SELECT COALESCE(NULL, b, 3), COALESCE(NULL, NULL), IFNULL(c, 1), COALESCE(b, a, NULL) / 2 FROM n
SELECT ABS(b), ABS(c), ABS(-3), ABS(NULL) FROM n
SELECT min(a, b), max(a, b, 3), min(c, 1), max(2, 3), min(NULL, 1) FROM n
SELECT a || d, 'x' || 5, NULL || 'a', d || '-' || e FROM n
SELECT upper(d), lower(d), length(d), length(e), length(123), substr(d, 1, 1), substr('hello', 2) FROM n
SELECT d LIKE 'A%', d LIKE 'aB', 'x_y' LIKE 'x\_y' ESCAPE '\', d NOT LIKE '_b' FROM n
SELECT d GLOB 'A*', d GLOB 'a?', 'a.c' GLOB 'a.c', 'abc' GLOB 'a.c' FROM n
SELECT count(*), count(b), count(DISTINCT b), sum(b), avg(b), total(b), min(b), max(b), sum(c), avg(c) FROM n
SELECT count(*), sum(x), avg(x), total(x), min(y), max(x) FROM empty
SELECT sum(DISTINCT b), avg(DISTINCT b), sum(NULL), total(NULL), avg(1), count(NULL), max(NULL) FROM n
SELECT sum(a > 2), max(a > 2), count(a > 2) FROM n
SELECT NULL / 2.5, 2.5 / NULL, c / NULL, count(*) / NULL, count(*) % CAST(NULL AS INTEGER), NULL + max(a), count(*) IS 'x' FROM n
SELECT min(NULL, max(a)), coalesce(NULL, NULL + max(a)), length(NULL + count(*)) FROM n
SELECT NULL + max(a) FROM n UNION SELECT d FROM n
SELECT count(*) FILTER (WHERE b), sum(c) FILTER (WHERE a > 2), total(b) FILTER (WHERE 0) FROM n
SELECT NULL IN (d, 0), NULL BETWEEN d AND 5, a IN (NULL, 'x') FROM n
SELECT total(f) FROM n GROUP BY b HAVING NOT (max(a) = b) IN (b = 10, 2)
SELECT NULL AS f FROM n GROUP BY a HAVING NOT f < 0
SELECT - sum(b) * 2 / 3, avg(b) / 2, sum(a) / count(*), 5 / count(*) FROM n
SELECT b, count(*), sum(c) FROM n GROUP BY b
SELECT b + 1, count(*) FROM n GROUP BY b + 1
SELECT count(*), b FROM n GROUP BY 2 HAVING count(*) > 1
SELECT b AS g, max(a) FROM n GROUP BY g ORDER BY g DESC
SELECT DISTINCT x, y FROM m GROUP BY x, y, z
SELECT * FROM m GROUP BY x, y, "Order", z, extra
SELECT 3 FROM n GROUP BY 5 + 0
SELECT count(*) FROM n HAVING count(*) > 1
SELECT sum(b) FROM n WHERE a > 100 HAVING NOT NULL
SELECT a FROM n ORDER BY b, a
SELECT a, b FROM n ORDER BY 2 DESC, 1 ASC
SELECT a AS k FROM n ORDER BY k DESC LIMIT 2
SELECT a FROM n ORDER BY c DESC, a LIMIT -1 OFFSET 2
SELECT a FROM n ORDER BY a LIMIT 2, 3
SELECT a FROM n ORDER BY - a LIMIT 1 + 1
SELECT d FROM n WHERE d IS NOT NULL ORDER BY d
SELECT a AS q FROM n WHERE q > 3 ORDER BY q + 0
SELECT * FROM v
SELECT * FROM w
SELECT v.q, w.r FROM v, w WHERE v.a = w.p
SELECT q FROM v WHERE c > 0 UNION ALL SELECT r FROM w
SELECT a FROM n UNION SELECT x FROM m
SELECT a FROM n EXCEPT SELECT x FROM m UNION ALL SELECT 1
SELECT a FROM n INTERSECT SELECT x FROM m
SELECT NULL UNION SELECT NULL UNION SELECT 5
SELECT NULL, 'a' UNION ALL SELECT 'b', NULL
SELECT 1 UNION ALL SELECT 2 EXCEPT SELECT 2 INTERSECT SELECT 1
SELECT a FROM n UNION SELECT y FROM m ORDER BY 1 DESC
SELECT n.a, m.x FROM n LEFT JOIN m ON n.a = m.x
SELECT n.a, m.x FROM n LEFT OUTER JOIN m ON m.x = n.a AND m.y
SELECT count(*) FROM n CROSS JOIN m
SELECT count(*) FROM n JOIN m
SELECT * FROM ( n AS k CROSS JOIN m )
SELECT * FROM m NATURAL JOIN (SELECT x FROM m WHERE x = 1)
SELECT * FROM m JOIN (SELECT 1 AS x, 2 AS t) AS s USING(x)
SELECT m1.x FROM m AS m1, m AS m2 WHERE m1.x = m2.x
SELECT (SELECT max(x) FROM m), (SELECT x FROM m WHERE x > 99), (SELECT a) FROM n
SELECT a, (SELECT count(*) FROM m WHERE m.x = n.a) FROM n
SELECT a FROM n WHERE EXISTS (SELECT 1 FROM m WHERE m.x = n.a)
SELECT a FROM n WHERE NOT EXISTS (SELECT * FROM m WHERE m.x = n.a AND n.b)
SELECT a FROM n WHERE a = (SELECT min(x) FROM m)
WITH t(k) AS (SELECT a FROM n WHERE a < 3) SELECT k, k / 2 FROM t
SELECT * FROM (SELECT a, b FROM n WHERE a < 3) AS s
SELECT "Order", x FROM m WHERE "order" = 'x'
SELECT "nosuch" FROM n WHERE a = 1
SELECT N.A, [b], `c` FROM N WHERE "n"."A" = 2
SELECT rowid, a FROM n
SELECT a <> 1, a != 1, a == 1 FROM n
SELECT a & 3, a | 8, ~a FROM n
SELECT iif(a > 2, 'big', 'small') FROM n
SELECT DISTINCT b IS NULL FROM n
SELECT ALL - ( + ( + + 72 ) ) AS col0
SELECT sum(c) FROM n WHERE c > 100
SELECT a FROM n WHERE b = NULL
SELECT a FROM n WHERE d > 5
SELECT TRUE, FALSE, a IS TRUE, b IS NOT TRUE, NOT TRUE FROM n
VALUES (1, 'a'), (2, NULL)
SELECT x, extra FROM m
SELECT a, f FROM n
SELECT group_concat(d) FROM n WHERE a = 1
SELECT count(*) FROM n, n AS n2 WHERE n.a < n2.a AND NOT n2.b IS NULL
SELECT round(7), round(a) FROM n
SELECT -9223372036854775808, 9223372036854775807
SELECT a FROM n WHERE a BETWEEN NULL AND 3 OR b NOT BETWEEN 0 AND NULL
SELECT NOT a BETWEEN 2 AND 4, NOT a = 1, - b BETWEEN -20 AND 20 FROM n
SELECT 36 / NULLIF(-58, CAST(15 AS REAL)), 1 / NULLIF(2, 0.5), NULLIF(2, 2.0)
SELECT b + 0 IS upper(d), NOT (max(b, 0) IS lower(d)), b + 0 IS NOT upper(d), '3' IN (b, a), '10' IN (b), b IN ('10'), NULLIF(a, ' 1'), NULLIF(a, '1'), NULLIF(d, 1) FROM n
SELECT typeof(a), typeof(c), typeof(d), typeof(NULL), hex(d), hex(b), quote(d), quote(b), char(65, 97), unicode(d), instr(d, 'b'), instr(d, ''), sign(b), sign(c) FROM n
SELECT replace(d, 'b', 'xy'), replace(d, '', 'x'), replace(d, NULL, 'x'), trim('  a ') || '|', ltrim(d, 'A'), rtrim('abba', 'ab'), round(b), round(b, 1), likely(a) = '1', +a = '1' FROM n
SELECT c % 2, -7.9 % 2, b % 2.5, 7 % c, c & 3, ~c, b | 2 FROM n
SELECT (a, b) = (1, 10), (a, b) < (2, 5), (b, a) >= (b, 2), (a, b) <> (1, 10), (a, d) IS (2, NULL), (a, b) BETWEEN (1, 5) AND (3, 0) FROM n
SELECT a FROM n WHERE (a, b) IN (VALUES (1, 10), (2, NULL)) OR NOT (a, b) IN (VALUES (3, -7), (4, 10))
SELECT a, row_number() OVER (PARTITION BY b ORDER BY a DESC), rank() OVER (ORDER BY b), dense_rank() OVER (ORDER BY b DESC), ntile(2) OVER (ORDER BY a) FROM n ORDER BY a
SELECT a, lag(b) OVER (ORDER BY a), lead(b, 2, 0) OVER (ORDER BY a), first_value(d) OVER w, last_value(a) OVER w, nth_value(b, 2) OVER w FROM n WINDOW w AS (ORDER BY a) ORDER BY a
SELECT a, sum(b) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), count(*) FILTER (WHERE b > 0) OVER (ORDER BY b), max(c) OVER (PARTITION BY b), percent_rank() OVER (ORDER BY b), cume_dist() OVER (ORDER BY b) FROM n ORDER BY a
SELECT a, sum(b) OVER (ORDER BY a RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING), count(c) OVER (ORDER BY c RANGE BETWEEN 1 PRECEDING AND CURRENT ROW), total(b) OVER () FROM n ORDER BY a
WITH RECURSIVE t(k, x) AS (SELECT 1, 5 UNION ALL SELECT k + 1, NULL FROM t WHERE k < 3), u(y) AS (SELECT a FROM n) SELECT k, y FROM t, u WHERE u.y = t.k
WITH RECURSIVE t(k, x) AS (SELECT 1, b FROM n WHERE a = 1 UNION SELECT k + 1, NULL FROM t WHERE k < 3) SELECT * FROM t
SELECT x.column1 + 1, x.column2 FROM (VALUES (1, 'a'), (2, NULL)) AS x WHERE x.column1 > 1
SELECT n.a, m.x FROM n RIGHT JOIN m ON n.a = m.y
SELECT n.a, m.x FROM n FULL JOIN m ON n.a = m.y AND m.x > 1
SELECT a, CASE c WHEN 2.5 THEN 'x' WHEN 1 THEN 'y' END, iif(b > 0, d, 'no'), max(a, b), min(a, c, 2) FROM n
SELECT m.y, k.x FROM m JOIN m AS k USING (x) WHERE k.x > 0
SELECT n.a, p.q FROM n NATURAL JOIN (SELECT b AS q FROM n) AS p
SELECT n.a, p.q FROM n NATURAL LEFT JOIN (SELECT b AS q FROM n WHERE b > 99) AS p
SELECT ~NULL, (NULL & 3), typeof(NULL | 1) FROM n
SELECT a << 2, b >> 1, a >> 0, -b >> 2, a << -1, NULL << 1 FROM n
SELECT a FROM n WHERE (a, b) IN (SELECT a, b FROM n WHERE b > 0)
SELECT a FROM n WHERE NOT (b, a) IN (SELECT y, x FROM m)
SELECT * FROM (SELECT n.a, k.a, k.a + 1, 5 FROM n JOIN n AS k ON k.a = n.a + 1) AS p
WITH p AS (SELECT n.a, k.a, k.b + 1 FROM n JOIN n AS k ON k.a = n.a + 1) SELECT *, p.a FROM p
SELECT k, t, LENGTH(t), t = '1.5' FROM reals
