# The cost of a step of an exact belief over S_n, from results/belief.csv (`shellgame bench belief --csv`).
# From the folder bench: gnuplot plot_belief.gp
set datafile separator ","
data = "results/belief.csv"

# Okabe and Ito's colours, which colour-blind readers tell apart; shapes differ too.
set style line 1 lc rgb "#000000" lw 2 dt 2 pt 0
set style line 2 lc rgb "#0072B2" lw 2.5 pt 7 ps 0.9
set style line 3 lc rgb "#56B4E9" lw 2.5 pt 5 ps 0.9
set style line 4 lc rgb "#009E73" lw 2.5 pt 9 ps 1.1
set style line 5 lc rgb "#E69F00" lw 2.5 pt 13 ps 1.1
set style line 6 lc rgb "#D55E00" lw 2.5 pt 11 ps 1.1

set title "What one step of an exact belief over S_n costs, on one thread" font ",15"
set xlabel "variables n, and states n!" offset 0,-1.2
set ylabel "time of a step"
set logscale y
set xrange [2.8:12.3]
set yrange [2e-8:100]
set xtics ("3\n6" 3, "4\n24" 4, "5\n120" 5, "6\n720" 6, "7\n5,040" 7, "8\n40,320" 8, "9\n362,880" 9, \
           "10\n3.6 million" 10, "11\n40 million" 11, "12\n479 million" 12)
set ytics ("100 ns" 1e-7, "1 µs" 1e-6, "10 µs" 1e-5, "100 µs" 1e-4, "1 ms" 1e-3, "10 ms" 1e-2, "0.1 s" 0.1, \
           "1 s" 1, "10 s" 10)
set grid ytics lt 1 lc rgb "#E4E4E4" lw 1
set border 3 lc rgb "#555555"
set tics nomirror
set key top left reverse Left spacing 1.3
set label "float64 up to S_{11}, float32 for S_{12}" at graph 0.99, 0.05 right tc rgb "#555555"
set lmargin 11
set rmargin 6
set bmargin 6

plot_all = "plot \
  data using 1:($10*$2*1e-9) skip 1 with linespoints ls 6 title 'NumPy, x = (x + x[index]) / 2', \
  data using 1:($7*$2*1e-9) skip 1 with linespoints ls 5 title 'mixture of two permutations that move everything', \
  data using 1:($5*$2*1e-9) skip 1 with linespoints ls 3 title 'mixture of identity and a swap, the worst swap', \
  data using 1:($4*$2*1e-9) skip 1 with linespoints ls 2 title 'mixture of identity and a swap, median', \
  data using 1:($8*$2*1e-9) skip 1 with linespoints ls 4 title 'reveal, the worst variable', \
  data using 1:($3*$2*1e-9) skip 1 with lines ls 1 title 'memcpy of the vector'"

set terminal svg size 1000,640 font "Helvetica,13" enhanced background rgb "white"
set output "results/belief-cost.svg"
eval plot_all
set terminal pngcairo size 1500,960 font "Helvetica,15" enhanced fontscale 1.15 linewidth 1.4 background rgb "white"
set output "results/belief-cost.png"
eval plot_all
